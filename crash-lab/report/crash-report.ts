/**
 * The lab's machine-readable result, `killproof.crash-report/1`. Every other report is made from it by a pure
 * function, so any report can be made again later from the saved file.
 */
import { z } from "zod";
import { verdictNames, type Verdict } from "../judge/verdicts.js";

export const crashReportSchemaName = "killproof.crash-report/1";

const verdict = z.enum(verdictNames as [Verdict, ...Verdict[]]);

const crashCase = z.object({
  window: z.string(),
  story: z.string(),
  process: z.string(),
  tap: z.string(),
  side: z.enum(["before", "after"]),
  verb: z.string(),
  verdict,
  /** What decided the verdict, for a person. */
  detail: z.string(),
  victim: z
    .object({ pid: z.number().int(), signal: z.string().nullable(), identity: z.string().nullable() })
    .nullable(),
  /** From the fault to the run's end, in milliseconds; only sampled in rounds of one, else `null`. */
  recoverMs: z.number().nonnegative().nullable(),
  /** The command that repeats this case. */
  repeat: z.string(),
});

const crashScenario = z.object({
  name: z.string(),
  manifest: z.object({
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    stable: z.number().int(),
    unstable: z.number().int(),
    stories: z.record(z.string(), z.number().int()),
    byTap: z.record(z.string(), z.number().int()),
  }),
  cases: z.array(crashCase),
  mutants: z.array(
    z.object({
      name: z.string(),
      predicted: z.array(z.string()),
      /** Every window with a bad verdict, predicted or not. */
      caught: z.array(z.string()),
      /** Was it caught at every predicted window, by the predicted verdict? */
      ok: z.boolean(),
      /** What decided that, for a person. */
      detail: z.string(),
    }),
  ),
});

export const crashReportSchema = z.object({
  schema: z.literal(crashReportSchemaName),
  /** Killproof's own version. */
  version: z.string(),
  profile: z.string(),
  scenarios: z.array(crashScenario),
  totals: z.object({
    windows: z.number().int(),
    cases: z.number().int(),
    verdicts: z.partialRecord(verdict, z.number().int()),
    seconds: z.number(),
    windowsPerSecond: z.number(),
  }),
});

export type CrashReport = z.infer<typeof crashReportSchema>;
export type CrashScenarioReport = z.infer<typeof crashScenario>;
export type CrashCase = z.infer<typeof crashCase>;

/**
 * Reads a saved report.
 *
 * @throws Error naming the first field that is wrong, its value and what is allowed.
 */
export function parseCrashReport(text: string): CrashReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`not a crash report: ${(error as Error).message}`, { cause: error });
  }
  const parsed = crashReportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new Error(
    `not a ${crashReportSchemaName}: ${issue.path.join(".") || "the document"}: ${issue.message}`,
  );
}

/** Counts what the cases say; totals are derived, never kept beside. */
export function totalsOf(scenarios: readonly CrashScenarioReport[], seconds: number): CrashReport["totals"] {
  const cases = scenarios.flatMap((scenario) => scenario.cases);
  const counts: Partial<Record<Verdict, number>> = {};
  for (const { verdict: found } of cases) counts[found] = (counts[found] ?? 0) + 1;
  return {
    windows: scenarios.reduce((sum, { manifest }) => sum + manifest.stable + manifest.unstable, 0),
    cases: cases.length,
    verdicts: counts,
    seconds,
    windowsPerSecond: seconds > 0 ? cases.length / seconds : 0,
  };
}
