/** Finds a lab by the scenario's name, or in a file that somebody else wrote. */
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CrashLabDefinition } from "../../crash-lab/lab-definition.js";
import type { Mutant } from "../../crash-lab/mutants/gate.js";
import { messageOf, UserFacingError } from "../../platform/errors.js";
import { invoiceApprovalLab, naiveInvoiceLab } from "../../scenarios/invoice-approval/lab.js";
import { invoiceMutants } from "../../scenarios/invoice-approval/mutants/index.js";

/** A lab whatever its environment is; the lab itself hands the environment back to the definition that made it. */
export type AnyLab = CrashLabDefinition<unknown>;

export interface FoundLab {
  readonly lab: AnyLab;
  readonly manifestFile: string;
  /** The scenario with one protection less, each. */
  readonly mutants: readonly Mutant[];
}

const labs = {
  "invoice-approval": { safe: invoiceApprovalLab, naive: naiveInvoiceLab, mutants: invoiceMutants },
} as const satisfies Record<string, { safe: object; naive: object; mutants: readonly Mutant[] }>;

export const scenarioNames = Object.keys(labs);

/**
 * @param given a scenario's name, or the path of a module that exports a lab as its default
 * @throws UserFacingError with what is wrong, and what is allowed
 */
export async function findLab(given: string, naive: boolean): Promise<FoundLab> {
  if (looksLikeFile(given)) {
    if (naive) throw new UserFacingError("--naive goes with a scenario's name, not with a lab file");
    const lab = await labFrom(given);
    return { lab, manifestFile: join(lab.folder, "manifest.json"), mutants: [] };
  }
  const variant = byLabName(given);
  if (variant && !naive) return variant;
  if (!Object.hasOwn(labs, given))
    throw new UserFacingError(
      `crash ${given}: allowed are ${scenarioNames.join(", ")}, or the path of a lab file`,
    );
  return found(labs[given as keyof typeof labs], naive);
}

function found(
  { safe, naive: unprotected, mutants }: (typeof labs)[keyof typeof labs],
  naive: boolean,
): FoundLab {
  const lab = (naive ? unprotected : safe) as unknown as AnyLab;
  return {
    lab,
    manifestFile: join(lab.folder, naive ? "manifest-naive.json" : "manifest.json"),
    mutants: naive ? [] : mutants,
  };
}

/** Reports name a lab by its own name, `invoice-approval-naive`; the command they print must find it again. */
function byLabName(name: string): FoundLab | undefined {
  for (const variants of Object.values(labs)) {
    if (variants.safe.name === name) return found(variants, false);
    if (variants.naive.name === name) return found(variants, true);
  }
  return undefined;
}

/** The lab that a schedule file names. @throws UserFacingError when there is none of that name */
export function labNamed(name: string): FoundLab {
  const lab = byLabName(name);
  if (lab) return lab;
  throw new UserFacingError(
    `no scenario is called "${name}"; for a lab of your own give its file with --lab`,
  );
}

const looksLikeFile = (given: string): boolean => /[/\\]|\.[cm]?[jt]s$/.test(given);

async function labFrom(file: string): Promise<AnyLab> {
  const path = resolve(file);
  await access(path).catch((error: unknown) => {
    throw new UserFacingError(`${file}: ${messageOf(error)}`);
  });
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  const lab = module.default;
  const needed = ["name", "folder", "environment", "peers", "processes", "stories", "effects", "profile"];
  const missing =
    typeof lab === "object" && lab !== null ? needed.filter((field) => !(field in lab)) : needed;
  if (missing.length > 0)
    throw new UserFacingError(
      `${file}: its default export must be a lab made with defineCrashLab; it lacks ${missing.join(", ")}`,
    );
  return lab as AnyLab;
}
