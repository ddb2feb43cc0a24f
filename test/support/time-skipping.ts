/** A Temporal server whose time passes when a test says so, for waits of days and months. */
import { Connection } from "@temporalio/client";
import { InternalConnectionOptionsSymbol } from "@temporalio/client/lib/connection.js";
import { encodeSearchAttributeIndexedValueType } from "@temporalio/common/lib/search-attributes.js";
import { msToTs } from "@temporalio/common/lib/time.js";
import { afterAll, beforeAll } from "vitest";
import type { Ledger } from "../../adapters/ledger/database.js";
import { openRun, startTemporal, type Run } from "../../platform/index.js";
import { searchAttributes } from "../../workflows/search-attributes.js";
import { shiftLedgerClock } from "./database.js";

export interface SkippingTemporal {
  readonly address: string;
  /** Milliseconds since 1970 by the server's clock. */
  now(): Promise<number>;
  /** Lets so much time pass, with all that falls due in it. */
  pass(ms: number): Promise<void>;
  /** Sets the ledger's clock by the server's, as two machines with the right time would have it. */
  align(ledger: Ledger): Promise<void>;
}

/** Months of daily polls take this long to be worked through on a busy machine. */
const passMsMax = 100_000;

/** Call once at the top of a test file, before the rig that uses it. Time stands still but for `pass`. */
export function skippingTemporal(): SkippingTemporal {
  let run: Run | undefined;
  let connection: Connection | undefined;
  let address = "";
  const service = () => connection!.testService!;
  const now = async () => {
    const { time } = await service().getCurrentTime({});
    return Number(time!.seconds) * 1_000 + Math.floor((time!.nanos ?? 0) / 1_000_000);
  };

  beforeAll(async () => {
    run = await openRun({ name: "test-time-skipping", handleSignals: false });
    ({ address } = await startTemporal(run, { name: "skipping", timeSkipping: true }));
    // Only with this option does the SDK's connection know the calls that move the clock.
    const withTestService = { [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
    connection = await Connection.connect({ address, ...withTestService });
    // The server can't list them, so what `platform` does for other servers doesn't work here.
    await connection.operatorService.addSearchAttributes({
      namespace: "default",
      searchAttributes: Object.fromEntries(
        searchAttributes.map(({ name, type }) => [name, encodeSearchAttributeIndexedValueType(type)!]),
      ),
    });
    await service().lockTimeSkipping({});
  });
  afterAll(async () => {
    await connection?.close();
    await run?.close();
  });

  return {
    get address() {
      return address;
    },
    now,
    pass: async (ms) => {
      await connection!.withDeadline(Date.now() + passMsMax, () =>
        service().unlockTimeSkippingWithSleep({ duration: msToTs(ms) }),
      );
    },
    align: async (ledger) => shiftLedgerClock(ledger, (await now()) - Date.now()),
  };
}
