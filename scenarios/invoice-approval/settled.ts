/** When nothing of a run is on its way any more: neither in our outbox nor inside the outside systems. */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { untilSettled } from "../world/effects.js";
import type { InvoiceEnvironment } from "./environment.js";

/**
 * Longer than a call to an outside system may take, and than a message may wait for the lease of a relay that died,
 * twice over. No story has a fault that commits later.
 */
const settledMsMax = 15_000;
/** Only the lab waits for it. */
const lookEveryMs = 25;

/**
 * A process can have ended while its mails are still to be sent.
 *
 * @throws Error naming what is still on its way when that takes too long
 */
export async function settled(
  { ledger, world }: Pick<InvoiceEnvironment, "ledger" | "world">,
  token: string,
): Promise<void> {
  const deadline = performance.now() + settledMsMax;
  for (;;) {
    const pending = await ledger
      .selectFrom("outbox")
      .select("message_key")
      .where("state", "=", "pending")
      .where(sql<string>`message_key`, "like", `%${token}%`)
      .execute();
    if (pending.length === 0) break;
    if (performance.now() > deadline)
      throw new Error(
        `still to be sent after ${settledMsMax} ms: ${pending.map((row) => row.message_key).join(", ")}`,
      );
    await delay(lookEveryMs);
  }
  await untilSettled(world.journal, token, { timeoutMs: settledMsMax });
}
