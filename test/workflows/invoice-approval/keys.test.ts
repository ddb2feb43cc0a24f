import { expect, test } from "vitest";
import { operationKey } from "../../../activities/operation/keys.js";
import { postingKey } from "../../../workflows/invoice-approval/keys.js";

test("the posting's key is what the rules for operation keys make of the invoice", () => {
  const made = operationKey({ case: "invoice", businessId: "acme.2026-0117", operation: "post" });
  expect(postingKey("acme.2026-0117")).toBe(made);
});
