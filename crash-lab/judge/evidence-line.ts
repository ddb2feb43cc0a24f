/**
 * Evidence as it is kept beside a verdict: one line of JSON for each thing that an observer saw. Whoever doubts a
 * verdict can work it out again from these lines alone (`scripts/recheck-evidence.mjs` does).
 */
import { z } from "zod";

export const evidenceLineSchema = z
  .strictObject({
    run: z.string().min(1).describe("The run's token; it stands in every business id of the run."),
    system: z
      .string()
      .min(1)
      .describe(
        "Who saw it: an outside system by its name, `ledger`, `caller`, `history`, `lab`, or `tap:<process>/<tap>`.",
      ),
    seq: z.int().nonnegative().describe("The observer's own order."),
    at: z.iso.datetime().describe("By the observer's own clock."),
    kind: z
      .string()
      .min(1)
      .describe(
        "`committed` is an effect of an outside system. The lab's own are `golden`, `fault`, `victim`, `lost-task` and `verdict`.",
      ),
    key: z.string().describe("What it is about, in the observer's own terms; the lab's are windows."),
    digest: z
      .string()
      .regex(/^([0-9a-f]{64})?$/)
      .describe(
        "SHA-256 of the content in lower-case hex, empty where there is none. Of outside systems: with the run's token replaced, so that runs can be compared.",
      ),
    status: z
      .union([z.string(), z.number(), z.null()])
      .describe("What came of it, in the observer's own terms."),
  })
  .describe("One line of a crash lab's evidence.");

export type EvidenceLine = z.infer<typeof evidenceLineSchema>;

/** Newline-delimited JSON, with a newline at the end. */
export function formatEvidence(lines: readonly EvidenceLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/**
 * Reads lines of evidence; empty lines are passed over.
 *
 * @throws Error naming the first line that is none, the field and what is allowed.
 */
export function parseEvidence(text: string): EvidenceLine[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [evidenceLineSchema.parse(JSON.parse(line))];
    } catch (error) {
      const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
      const why = issue
        ? `${issue.path.join(".") || "the line"}: ${issue.message}`
        : (error as Error).message;
      throw new Error(`line ${index + 1} is no line of evidence: ${why}`, { cause: error });
    }
  });
}
