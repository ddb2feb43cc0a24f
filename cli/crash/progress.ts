import { passes } from "../../crash-lab/judge/verdicts.js";
import type { LabProgress, LabResult } from "../../crash-lab/run/run-crash-lab.js";

/** What lines are written to: a stream, or whoever collects them. */
export interface LineWriter {
  write(text: string): unknown;
}

/** A line for each case as it is judged. */
export function progressTo(stream: LineWriter): LabProgress {
  return {
    golden: (story, manifest) => void stream.write(`${story}: ${manifest.length} windows found\n`),
    judged: ({ target, judgement }, done, all) =>
      void stream.write(
        `${String(done).padStart(4)}/${all} ${passes(judgement.verdict) ? "" : "!! "}${judgement.verdict} ${target.verb} ${decodeURIComponent(target.window)}\n`,
      ),
  };
}

/** Where the time of the cases went. */
export const phasesLine = (phases: LabResult["phases"]): string => `time by phase: ${phaseTimes(phases)}`;

export function phaseTimes(phases: LabResult["phases"]): string {
  return Object.entries(phases)
    .map(([phase, ms]) => `${phase} ${(ms / 1000).toFixed(1)} s`)
    .join(", ");
}
