import { access, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { z } from "zod";
import { caseForm, expectationsForm, type CaseForm, type Outcome } from "./form.js";
import { CaseFileError, type FunctionLibrary } from "./functions.js";

/** The cases of a file, their functions, and what stood in the file but no engine knows. */
export interface CaseFile {
  readonly cases: readonly CaseForm[];
  readonly functions: FunctionLibrary;
  readonly warnings: readonly string[];
}

/** The file itself, or the case files of a folder in the order of their names. */
export async function caseFilesAt(place: string): Promise<string[]> {
  const isFolder = await stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [place];
  const names = (await readdir(place)).filter((name) => /\.cases\.(mjs|json)$/.test(name)).sort();
  if (names.length === 0) throw new CaseFileError(`${place}: has no files *.cases.mjs or *.cases.json`);
  return names.map((name) => path.join(place, name));
}

/**
 * Reads a case file (`.mjs` that exports `cases`, or `.json` with a list) and the library `fns.mjs` beside it.
 *
 * @throws CaseFileError naming file, case, field and what is allowed.
 */
export async function loadCaseFile(file: string): Promise<CaseFile> {
  const listed = await exportOf(file, "cases");
  if (!Array.isArray(listed)) throw new CaseFileError(`${file}: "cases" must be a list of cases`);
  const warnings: string[] = [];
  const cases = listed.map((item, index) =>
    parseCase(item, `${file}: case ${nameOf(item, index)}`, warnings),
  );
  const seen = new Set<string>();
  for (const { id } of cases) {
    if (seen.has(id)) throw new CaseFileError(`${file}: two cases have the id "${id}"`);
    seen.add(id);
  }
  return { cases, functions: await loadFunctions(path.join(path.dirname(file), "fns.mjs")), warnings };
}

/** Reads a library of functions: `nodeFns`, `routeFns` and `reducers`, each an object of functions. */
export async function loadFunctions(file: string): Promise<FunctionLibrary> {
  const parts = ["nodeFns", "routeFns", "reducers"] as const;
  const library: Record<string, unknown> = {};
  for (const part of parts) {
    const exported = await exportOf(file, part);
    if (exported === null || typeof exported !== "object") {
      throw new CaseFileError(`${file}: must export "${part}", an object of functions`);
    }
    library[part] = exported;
  }
  return library as unknown as FunctionLibrary;
}

/**
 * What the reference engine gave, from the file that was named, else from `results-<name>.json` beside
 * `<name>.cases.mjs`. Nothing when there is no such file.
 */
export async function loadExpectations(
  caseFile: string,
  named: string | undefined,
): Promise<Record<string, Outcome> | undefined> {
  const beside = `results-${path.basename(caseFile).replace(/(\.cases)?\.[^.]+$/, "")}.json`;
  const file = named ?? path.join(path.dirname(caseFile), beside);
  if (named === undefined && !(await exists(file))) return undefined;
  const parsed = expectationsForm.safeParse(await readJson(file));
  if (!parsed.success) {
    throw new CaseFileError(`${file}: must hold { id: { steps, calls } }; ${issueText(parsed.error.issues)}`);
  }
  return parsed.data;
}

/** A function by name, or an error that names the place, the name, and the names that exist. */
export function functionNamed<Part extends keyof FunctionLibrary>(
  library: FunctionLibrary,
  part: Part,
  name: string | undefined,
  place: string,
): FunctionLibrary[Part][string] {
  const functions = library[part] as Record<string, FunctionLibrary[Part][string]>;
  const found = name !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (typeof found === "function") return found;
  throw new CaseFileError(
    `${place}: no function ${JSON.stringify(name ?? null)} in ${part}; there are ${Object.keys(functions).sort().join(", ")}`,
  );
}

function parseCase(item: unknown, place: string, warnings: string[]): CaseForm {
  const copy = structuredCloneOrFail(item, place);
  // Strangers are taken out and reported, round by round, since a stranger inside hides what else is wrong there.
  for (;;) {
    const parsed = caseForm.safeParse(copy);
    if (parsed.success) return parsed.data;
    const strangers = strangersOf(parsed.error.issues);
    if (strangers.length === 0) throw new CaseFileError(`${place}: ${issueText(parsed.error.issues)}`);
    for (const { at, key } of strangers) {
      delete (valueAt(copy, at) as Record<string, unknown>)[key];
      warnings.push(`${place}: ${[...at, key].join(".")} is not known to any engine and was left out`);
    }
  }
}

type Issue = z.core.$ZodIssue;

const strangersOf = (issues: readonly Issue[]): { at: PropertyKey[]; key: string }[] =>
  issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => ({ at: issue.path, key })) : [],
  );

const issueText = (issues: readonly Issue[]): string =>
  issues.map(({ path: at, message }) => `${at.join(".") || "the case"}: ${message}`).join("; ");

const valueAt = (root: unknown, at: readonly PropertyKey[]): unknown =>
  at.reduce((value, key) => (value as Record<PropertyKey, unknown>)[key], root);

function structuredCloneOrFail(item: unknown, place: string): unknown {
  try {
    return structuredClone(item);
  } catch (error) {
    throw new CaseFileError(`${place}: must be plain data (${(error as Error).message})`);
  }
}

const nameOf = (item: unknown, index: number): string => {
  const id = (item as { id?: unknown } | null)?.id;
  return typeof id === "string" ? id : `number ${index + 1}`;
};

async function exportOf(file: string, name: string): Promise<unknown> {
  if (!(await exists(file))) throw new CaseFileError(`${file}: there is no such file`);
  if (file.endsWith(".json")) {
    const content = await readJson(file);
    return Array.isArray(content) ? content : (content as Record<string, unknown> | null)?.[name];
  }
  try {
    const module = (await import(pathToFileURL(path.resolve(file)).href)) as Record<string, unknown>;
    return module[name];
  } catch (error) {
    throw new CaseFileError(`${file}: can't be loaded: ${(error as Error).message}`);
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new CaseFileError(`${file}: can't be read as JSON: ${(error as Error).message}`);
  }
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
