/**
 * The crash lab for systems of one's own: describe the processes, their peers, the stories and the outside journals
 * with `defineCrashLab`, and run it with `runCrashLab`. Experimental: the shape of the definition may still change.
 */
export {
  defineCrashLab,
  type CrashLabDefinition,
  type Expectation,
  type Ingress,
  type LabProfile,
  type Peers,
  type Stage,
  type Standing,
  type Story,
  type StoryHold,
  type TappedPeers,
} from "./lab-definition.js";
export type { Effect, InvariantResult, Told } from "./judge/evidence.js";
export { verdicts, type Verdict } from "./judge/verdicts.js";
export { newRunToken, runTokensIn, withoutRunTokens } from "./taps/tokens.js";
export { runCrashLab, type LabOptions, type LabResult } from "./run/run-crash-lab.js";
export { crashReportSchema, parseCrashReport, type CrashReport } from "./report/crash-report.js";
export { exitCodeOfReport } from "./report/exit-code.js";
export { reporters } from "./report/reporter.js";
