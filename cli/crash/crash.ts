/** `killproof crash <scenario>`: finds the windows, plays the faults, judges, reports. */
import { readFile, writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { EvidenceLine } from "../../crash-lab/judge/evidence-line.js";
import type { CrashReport } from "../../crash-lab/report/crash-report.js";
import { exitCodeOfReport } from "../../crash-lab/report/exit-code.js";
import { reporters } from "../../crash-lab/report/reporter.js";
import { runCrashLab, type LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { verbNames, type Verb } from "../../crash-lab/verbs/verb.js";
import {
  formatManifest,
  manifestHash,
  parseManifest,
  withStories,
  type Drift,
  type Manifest,
} from "../../crash-lab/windows/manifest.js";
import { codeOf, messageOf, UserFacingError } from "../../platform/errors.js";
import { findLab, type FoundLab } from "./labs.js";
import { playMutants } from "./mutants.js";
import { phasesLine, progressTo } from "./progress.js";
import { evidenceLines, writeEvidence, writeFailures } from "./write-evidence.js";

export interface CrashOptions {
  /** A scenario's name, or a lab file. */
  readonly scenario: string;
  readonly version: string;
  readonly verb?: readonly string[];
  readonly story?: readonly string[];
  readonly window?: readonly string[];
  /** The unprotected variant of the scenario's worker. */
  readonly naive: boolean;
  /** All of the scenario's mutants, in place of the scenario itself. */
  readonly mutants?: boolean;
  /** Only these mutants. */
  readonly mutant?: readonly string[];
  /** With mutants: every window, not the predicted ones and a share of the others. */
  readonly everyWindow?: boolean;
  /** Write the found windows as the scenario's manifest. */
  readonly accept: boolean;
  /** One run a round. */
  readonly serial: boolean;
  /** Find the windows and print their hash; play no fault. */
  readonly manifestOnly?: boolean;
  /** Whose time-outs the runs have; the scenario's own by default. */
  readonly profile?: string;
  /** How often each window is tried, as it was typed. */
  readonly repeat?: string;
  readonly json?: string;
  readonly junit?: string;
  readonly html?: string;
  /** Folder for what every observer saw. */
  readonly evidence?: string;
  /** Folder for a schedule file and the evidence of each bad case. */
  readonly failures?: string;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** @returns 0 fine, 1 a bad verdict or a manifest that drifted, 2 the lab's own fault */
export async function crash(options: CrashOptions): Promise<number> {
  const { scenario, stdout } = options;
  const verbs = chosenVerbs(options.verb);
  const repeat = repeats(options.repeat);
  const found = await findLab(scenario, options.naive);
  if (options.mutants || options.mutant) return crashMutants(found, options);
  const { lab, manifestFile } = found;
  const committed = options.accept ? undefined : await readManifest(manifestFile);
  const result = await runCrashLab(lab, {
    version: options.version,
    verbs,
    repeat,
    ...(options.story ? { stories: options.story } : {}),
    ...(options.manifestOnly ? { windows: [] } : options.window ? { windows: options.window } : {}),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(committed ? { manifest: committed } : {}),
    ...(options.serial ? { roundSizeMax: 1 } : {}),
    ...(options.evidence === undefined && options.html === undefined ? {} : { evidence: "all" as const }),
    progress: progressTo(options.stderr),
  });
  if (options.accept) await accept(manifestFile, result.manifest);
  if (options.manifestOnly) {
    stdout.write(`${manifestHash(result.manifest)}\n`);
    return reportDrift(result.drift, scenario, stdout) ? 1 : 0;
  }
  options.stderr.write(`${phasesLine(result.phases)}\n`);
  await writeReports(result, options);
  stdout.write(reporters.console(result.report));
  const drifted = reportDrift(result.drift, scenario, stdout);
  const code = exitCodeOfReport(result.report);
  return code === 0 && drifted ? 1 : code;
}

/** The windows of stories that weren't played stay as they were. */
async function accept(file: string, seen: Manifest): Promise<void> {
  const before = (await readManifest(file)) ?? [];
  await writeFile(file, formatManifest(withStories(before, seen)));
}

/** @returns 0 when each was caught as predicted, 1 when one survived, 2 the lab's own fault */
async function crashMutants(found: FoundLab, options: CrashOptions): Promise<number> {
  const { stdout, stderr, version, everyWindow = false, mutant: names } = options;
  const manifest = (await readManifest(found.manifestFile)) ?? [];
  const report = await playMutants(found, manifest, { version, names, everyWindow, stderr });
  await writeReportFiles(report, [], options);
  stdout.write(reporters.console(report));
  return exitCodeOfReport(report);
}

function chosenVerbs(wanted: readonly string[] | undefined): readonly Verb[] {
  const unknown = wanted?.find((verb) => !(verbNames as readonly string[]).includes(verb));
  if (unknown !== undefined)
    throw new UserFacingError(`--verb ${unknown}: allowed are ${verbNames.join(", ")}`);
  return (wanted as readonly Verb[] | undefined) ?? ["kill"];
}

/** So many that nobody means more; each takes about a second. */
const repeatsMax = 10_000;

/** @throws UserFacingError for what is no whole number from 1 */
export function repeats(given: string | undefined): number {
  if (given === undefined) return 1;
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1 || count > repeatsMax)
    throw new UserFacingError(`--repeat ${given}: allowed is a whole number from 1 to ${repeatsMax}`);
  return count;
}

async function readManifest(file: string): Promise<Manifest | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return parseManifest(text, file);
  } catch (error) {
    throw new UserFacingError(messageOf(error));
  }
}

async function writeReports(result: LabResult, options: CrashOptions): Promise<void> {
  await writeReportFiles(result.report, evidenceLines(result), options);
  await writing("--evidence", options.evidence, (folder) => writeEvidence(folder, result));
  // Whoever keeps the report keeps what is needed to repeat its bad cases, too.
  const failures = options.failures ?? options.json?.replace(/(\.json)?$/, "-failures");
  const written = await writing("--failures", failures, (folder) => writeFailures(folder, result));
  for (const file of written ?? []) options.stderr.write(`to repeat: killproof crash replay ${file}\n`);
}

async function writeReportFiles(
  report: CrashReport,
  evidence: readonly EvidenceLine[],
  { json, junit, html }: CrashOptions,
): Promise<void> {
  await writing("--json", json, (file) => writeFile(file, reporters.json(report)));
  await writing("--junit", junit, (file) => writeFile(file, reporters.junit(report)));
  await writing("--html", html, (file) => writeFile(file, reporters.html(report, evidence)));
}

async function writing<T>(
  option: string,
  path: string | undefined,
  write: (path: string) => Promise<T>,
): Promise<T | undefined> {
  if (path === undefined) return undefined;
  return write(path).catch((error: unknown) => {
    throw new UserFacingError(`${option} ${path}: ${messageOf(error)}`);
  });
}

/** @returns whether the manifest is out of date */
function reportDrift(drift: Drift | null, scenario: string, stdout: Writable): boolean {
  if (!drift) return false;
  const line = (what: string, window: string): void =>
    void stdout.write(`${what}: ${decodeURIComponent(window)}\n`);
  for (const window of drift.appeared) line("not in the manifest", window);
  for (const window of drift.gone) line("in the manifest and not seen", window);
  for (const window of drift.warnings) line("seen in one golden run only", window);
  const drifted = drift.appeared.length + drift.gone.length > 0;
  if (drifted)
    stdout.write(`The manifest has drifted. If that is meant: killproof crash ${scenario} --accept\n`);
  return drifted;
}
