import { expect, test } from "vitest";

import {
  DamagedPayload,
  NotStorable,
  PayloadTooLarge,
  UnknownPayload,
} from "../../../adapters/ledger/index.js";
import { nonRetryableFailures } from "../../../failures/catalogue.js";

test("what the ledger will refuse each time is a failure that no policy retries", () => {
  for (const Failure of [DamagedPayload, NotStorable, PayloadTooLarge, UnknownPayload]) {
    expect(nonRetryableFailures).toContain(new Failure("for its name").name);
  }
});
