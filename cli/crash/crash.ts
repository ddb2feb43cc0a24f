/** `killproof crash <scenario>`: finds the windows, kills in each, judges, reports. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { passes } from "../../crash-lab/judge/verdicts.js";
import { exitCodeOfReport, reporters } from "../../crash-lab/report/reporter.js";
import { runCrashLab, type LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { verbNames, type Verb } from "../../crash-lab/verbs/verb.js";
import {
  formatManifest,
  parseManifest,
  type Drift,
  type Manifest,
} from "../../crash-lab/windows/manifest.js";
import { codeOf, messageOf, UserFacingError } from "../../platform/errors.js";
import { invoiceApprovalLab, naiveInvoiceLab } from "../../scenarios/invoice-approval/lab.js";

export interface CrashOptions {
  readonly scenario: string;
  readonly version: string;
  readonly verb?: readonly string[];
  readonly story?: readonly string[];
  readonly window?: readonly string[];
  /** The unprotected variant of the scenario's worker. */
  readonly naive: boolean;
  /** Write the found windows as the scenario's manifest. */
  readonly accept: boolean;
  /** One run a round. */
  readonly serial: boolean;
  readonly json?: string;
  readonly junit?: string;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

const labs = {
  "invoice-approval": { safe: invoiceApprovalLab, naive: naiveInvoiceLab },
} as const;

/** @returns 0 fine, 1 a bad verdict or a manifest that drifted, 2 the lab's own fault */
export async function crash(options: CrashOptions): Promise<number> {
  const { scenario, stdout, stderr } = options;
  if (!Object.hasOwn(labs, scenario))
    throw new UserFacingError(`crash ${scenario}: allowed are ${Object.keys(labs).join(", ")}`);
  const lab = labs[scenario as keyof typeof labs][options.naive ? "naive" : "safe"];
  const manifestFile = join(lab.folder, options.naive ? "manifest-naive.json" : "manifest.json");
  const committed = options.accept ? undefined : await readManifest(manifestFile);
  const result = await runCrashLab(lab, {
    version: options.version,
    verbs: chosenVerbs(options.verb),
    ...(options.story ? { stories: options.story } : {}),
    ...(options.window ? { windows: options.window } : {}),
    ...(committed ? { manifest: committed } : {}),
    ...(options.serial ? { roundSizeMax: 1 } : {}),
    progress: {
      golden: (story, manifest) => stderr.write(`${story}: ${manifest.length} windows found\n`),
      judged: ({ target, judgement }, done, all) =>
        stderr.write(
          `${String(done).padStart(4)}/${all} ${passes(judgement.verdict) ? "" : "!! "}${judgement.verdict} ${target.verb} ${decodeURIComponent(target.window)}\n`,
        ),
    },
  });
  await writeReports(result, options);
  stdout.write(reporters.console(result.report));
  if (options.accept) await writeFile(manifestFile, formatManifest(result.manifest));
  const drifted = reportDrift(result.drift, scenario, stdout);
  const code = exitCodeOfReport(result.report);
  return code === 0 && drifted ? 1 : code;
}

function chosenVerbs(wanted: readonly string[] | undefined): readonly Verb[] {
  const unknown = wanted?.find((verb) => !(verbNames as readonly string[]).includes(verb));
  if (unknown !== undefined)
    throw new UserFacingError(`--verb ${unknown}: allowed are ${verbNames.join(", ")}`);
  return (wanted as readonly Verb[] | undefined) ?? ["kill"];
}

async function readManifest(file: string): Promise<Manifest | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseManifest(text, file);
}

async function writeReports({ report }: LabResult, { json, junit }: CrashOptions): Promise<void> {
  const write = (option: string, file: string, text: string): Promise<void> =>
    writeFile(file, text).catch((error: unknown) => {
      throw new UserFacingError(`${option} ${file}: ${messageOf(error)}`);
    });
  if (json !== undefined) await write("--json", json, reporters.json(report));
  if (junit !== undefined) await write("--junit", junit, reporters.junit(report));
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
