/**
 * A case as a small file, so that a failure can be repeated, passed on and reduced.
 *
 * It fixes the scenario, the windows, the verbs and the workload's seed. It does not fix how the operating system
 * interleaves processes, nor the order of events that don't depend on each other; `notFixed` says so to whoever
 * reads the file.
 */
import { z } from "zod";
import { parseJson } from "../parse-json.js";
import { parseWindowName } from "../windows/window-name.js";

export const scheduleSchemaName = "killproof.crash-schedule/1";

const window = z.string().superRefine((value, context) => {
  try {
    parseWindowName(value);
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
  }
});

const scheduleSchema = z.strictObject({
  schema: z.literal(scheduleSchemaName),
  scenario: z.string().min(1),
  /** Of the manifest that the windows were taken from; another one is a warning, since the window may still exist. */
  manifestHash: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"),
  profile: z.string().min(1),
  /** Seed of the workload, the same inputs for the same number. */
  seed: z.int().nonnegative(),
  /** One after another: the first fault, then the next in its recovery. */
  faults: z.array(z.strictObject({ window, verb: z.string().min(1) })).min(1),
  /** The verdict that was seen. */
  verdict: z.string().min(1),
  notFixed: z.array(z.string()),
});

export type ScheduleFile = z.infer<typeof scheduleSchema>;

/**
 * Reads a schedule file.
 *
 * @throws Error naming the file, the field, and what is allowed.
 */
export function parseSchedule(text: string, file: string): ScheduleFile {
  return parseJson(scheduleSchema, text, file);
}

/** What no file can fix, and what therefore may differ when a case is repeated. */
const notFixed = [
  "how the operating system schedules the processes",
  "the order of events that don't wait for each other",
  "ids and times",
] as const;

/** The file for a case that was played. */
export function scheduleOf(
  fault: { readonly window: string; readonly verb: string },
  verdict: string,
  lab: Pick<ScheduleFile, "scenario" | "manifestHash" | "profile">,
): ScheduleFile {
  const { scenario, manifestHash, profile } = lab;
  // Stories take no seed: their inputs are files, the same each time.
  return {
    schema: scheduleSchemaName,
    scenario,
    manifestHash,
    profile,
    seed: 0,
    faults: [{ window: fault.window, verb: fault.verb }],
    verdict,
    notFixed: [...notFixed],
  };
}

export function formatSchedule(schedule: ScheduleFile): string {
  return `${JSON.stringify(schedule, undefined, 2)}\n`;
}
