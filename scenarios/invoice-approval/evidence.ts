/** What the outside systems and the ledger say of one run, as lines of evidence. */
import type { EvidenceLine } from "../../crash-lab/judge/evidence-line.js";
import { comparableDigest } from "../world/effects.js";
import { toEvidenceLine } from "../world/evidence.js";
import type { InvoiceEnvironment } from "./environment.js";

/** Of the outside systems the digests are comparable between runs; see `effectsOf`. */
export async function invoiceEvidence(
  { world, ledger }: Pick<InvoiceEnvironment, "world" | "ledger">,
  token: string,
): Promise<readonly EvidenceLine[]> {
  const journal = await world.journal.read({ run: token });
  const events = await ledger
    .selectFrom("operation_events")
    .selectAll()
    .where("key", "like", `%${token}%`)
    .orderBy("id")
    .execute();
  return [
    ...journal.map((entry) => ({
      ...toEvidenceLine(token, entry),
      // What the story itself puts in place is no effect.
      kind: entry.operation === "put" ? entry.operation : entry.kind,
      // An entry by hand is another thing than one by request.
      key: `${entry.operation}:${entry.key}`,
      digest: comparableDigest(entry, token),
    })),
    ...events.map(({ id, at, verb, key, state, epoch, try_number: tryNumber, worker }) => ({
      run: token,
      system: "ledger",
      seq: Number(id),
      at: new Date(at).toISOString(),
      kind: verb,
      key,
      digest: "",
      status: `${state}, try ${tryNumber}, epoch ${epoch}, ${worker}`,
    })),
  ];
}
