/** Reports made by hand. */
import type { Verdict } from "../../../crash-lab/judge/verdicts.js";
import { totalsOf, type CrashCase, type CrashReport } from "../../../crash-lab/report/crash-report.js";

export const window = (label: string) => `automatic/worker/http/${encodeURIComponent(label)}/1/after`;

export const crashCase = (label: string, verdict: Verdict, change: Partial<CrashCase> = {}): CrashCase => ({
  window: window(label),
  story: "automatic",
  process: "worker",
  tap: "http",
  side: "after",
  verb: "kill",
  verdict,
  detail: `detail of <${label}> & "more"`,
  victim: { pid: 41, signal: "SIGKILL", identity: "worker@41" },
  recoverMs: null,
  repeat: `killproof crash invoice-approval --window '${window(label)}'`,
  ...change,
});

export function reportOf(
  cases: CrashCase[],
  mutants: CrashReport["scenarios"][0]["mutants"] = [],
): CrashReport {
  const scenario = {
    name: "invoice-approval",
    manifest: {
      hash: "ab".repeat(32),
      stable: 3,
      unstable: 1,
      stories: { automatic: 4 },
      byTap: { http: 4 },
    },
    cases,
    mutants,
  };
  return {
    schema: "killproof.crash-report/1",
    version: "0.1.0",
    profile: "quick",
    scenarios: [scenario],
    totals: totalsOf([scenario], 2),
  };
}
