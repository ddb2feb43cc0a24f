/** What a lab leaves in files beside its reports. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatEvidence, type EvidenceLine } from "../../crash-lab/judge/evidence-line.js";
import { passes } from "../../crash-lab/judge/verdicts.js";
import type { LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { formatSchedule, scheduleOf } from "../../crash-lab/schedule/schedule-file.js";

/** All lines of all runs, the undisturbed runs first. */
export function evidenceLines({ evidence }: LabResult): EvidenceLine[] {
  return [...evidence.golden.values(), ...evidence.cases.values()].flat();
}

/** In one file, `evidence.ndjson`. */
export async function writeEvidence(folder: string, result: LabResult): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "evidence.ndjson"), formatEvidence(evidenceLines(result)));
}

/**
 * For each bad case a schedule file that repeats it, and the evidence of its run and of the undisturbed one.
 *
 * @returns the schedule files; none when nothing is bad, and then no folder is made
 */
export async function writeFailures(folder: string, result: LabResult): Promise<readonly string[]> {
  const [scenario] = result.report.scenarios;
  const bad = result.cases.filter(({ judgement }) => !passes(judgement.verdict));
  if (!scenario || bad.length === 0) return [];
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const [index, judged] of bad.entries()) {
    const name = join(folder, `${String(index + 1).padStart(3, "0")}-${judged.judgement.verdict}`);
    const schedule = scheduleOf(judged.target, judged.judgement.verdict, {
      scenario: scenario.name,
      manifestHash: scenario.manifest.hash,
      profile: result.report.profile,
    });
    await writeFile(`${name}.json`, formatSchedule(schedule));
    const lines = [
      ...[...result.evidence.golden.values()].flat(),
      ...(result.evidence.cases.get(judged) ?? []),
    ];
    await writeFile(`${name}.ndjson`, formatEvidence(lines));
    files.push(`${name}.json`);
  }
  return files;
}
