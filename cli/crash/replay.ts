/** `killproof crash replay <file>`: plays a case again from its schedule file and compares the verdict. */
import { runCrashLab, type LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { parseSchedule, type ScheduleFile } from "../../crash-lab/schedule/schedule-file.js";
import { verbNames, type Verb } from "../../crash-lab/verbs/verb.js";
import { UserFacingError } from "../../platform/errors.js";
import { repeats } from "./crash.js";
import { findLab, labNamed } from "./labs.js";
import { progressTo, type LineWriter } from "./progress.js";
import { readParsed } from "./read-file.js";

export interface ReplayOptions {
  readonly file: string;
  readonly version: string;
  /** The lab's file, for one that isn't ours. */
  readonly lab?: string;
  readonly repeat?: string;
  /** False inside a host that handles signals itself; default true. */
  readonly handleSignals?: boolean;
  readonly stdout: LineWriter;
  readonly stderr: LineWriter;
}

/** @returns 0 when each repetition gave the file's verdict, whichever it is; 1 when one gave another; 2 the lab's own fault */
export async function replayCase(options: ReplayOptions): Promise<number> {
  const schedule = await readParsed(options.file, parseSchedule);
  const fault = onlyFault(schedule, options.file);
  const { lab } = await (options.lab === undefined
    ? labNamed(schedule.scenario)
    : findLab(options.lab, false));
  const result = await runCrashLab(lab, {
    version: options.version,
    profile: schedule.profile,
    verbs: [fault.verb],
    windows: [fault.window],
    repeat: repeats(options.repeat),
    // Alone, so that no other run's recovery is part of the case.
    roundSizeMax: 1,
    progress: progressTo(options.stderr),
    ...(options.handleSignals === undefined ? {} : { handleSignals: options.handleSignals }),
  });
  return compare(schedule, result, options.stdout);
}

function onlyFault({ faults }: ScheduleFile, file: string): { window: string; verb: Verb } {
  const [first, second] = faults;
  if (second) throw new UserFacingError(`${file}: faults: one is allowed; there are ${faults.length}`);
  if (!(verbNames as readonly string[]).includes(first!.verb))
    throw new UserFacingError(
      `${file}: faults.0.verb: "${first!.verb}"; allowed are ${verbNames.join(", ")}`,
    );
  return { window: first!.window, verb: first!.verb as Verb };
}

function compare(schedule: ScheduleFile, { report, cases }: LabResult, stdout: LineWriter): number {
  const found = cases.map(({ judgement }) => judgement.verdict);
  const same = found.filter((verdict) => verdict === schedule.verdict).length;
  const others = [...new Set(found.filter((verdict) => verdict !== schedule.verdict))];
  const instead = others.length > 0 ? `, otherwise ${others.join(", ")}` : "";
  stdout.write(`${schedule.verdict} ${same} of ${found.length} times${instead}\n`);
  if (report.scenarios[0]!.manifest.hash !== schedule.manifestHash)
    stdout.write("The windows have changed since the file was written; this one still exists.\n");
  stdout.write(`Not fixed by the file: ${schedule.notFixed.join("; ")}.\n`);
  if (others.includes("harness")) return 2;
  return others.length > 0 || found.length === 0 ? 1 : 0;
}
