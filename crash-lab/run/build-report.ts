import type { CrashLabDefinition, LabProfile } from "../lab-definition.js";
import { crashReportSchemaName, totalsOf, type CrashCase, type CrashReport } from "../report/crash-report.js";
import { manifestHash, type Manifest } from "../windows/manifest.js";
import { parseWindowName, type Window } from "../windows/window-name.js";
import type { JudgedCase } from "./play-cases.js";

export interface Played {
  readonly version: string;
  readonly profile: LabProfile;
  readonly manifest: Manifest;
  readonly cases: readonly JudgedCase[];
  readonly seconds: number;
  /** Rounds of one: then the times to recover are each case's own. */
  readonly serial: boolean;
}

/** The lab's result as every report is made from. */
export function reportOf<Environment>(
  { name }: CrashLabDefinition<Environment>,
  { version, profile, manifest, cases, seconds, serial }: Played,
): CrashReport {
  const count = (pick: (window: Window) => string): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { window } of manifest) {
      const part = pick(parseWindowName(window));
      counts[part] = (counts[part] ?? 0) + 1;
    }
    return counts;
  };
  const scenarios = [
    {
      name,
      manifest: {
        hash: manifestHash(manifest),
        stable: manifest.filter(({ stable }) => stable).length,
        unstable: manifest.filter(({ stable }) => !stable).length,
        stories: count(({ story }) => story),
        byTap: count(({ tap }) => tap),
      },
      cases: cases.map((judged) => caseOf(name, judged, serial)),
      mutants: [],
    },
  ];
  return {
    schema: crashReportSchemaName,
    version,
    profile: profile.name,
    scenarios,
    totals: totalsOf(scenarios, seconds),
  };
}

function caseOf(
  scenario: string,
  { target, judgement, evidence, recoverMs }: JudgedCase,
  serial: boolean,
): CrashCase {
  const { story, process, tap, side } = parseWindowName(target.window);
  const { victim } = evidence.fault;
  return {
    window: target.window,
    story,
    process,
    tap,
    side,
    verb: target.verb,
    verdict: judgement.verdict,
    detail: judgement.detail,
    victim: victim ? { pid: victim.pid, signal: victim.signal, identity: victim.identity } : null,
    recoverMs: serial ? recoverMs : null,
    repeat: `killproof crash ${scenario} --verb ${target.verb} --window '${target.window}'`,
  };
}
