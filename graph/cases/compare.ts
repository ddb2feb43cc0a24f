import type { PlayedCase } from "./engine.js";
import type { CaseForm, Difference, Outcome } from "./form.js";

/** A place at which an outcome isn't what was expected, or is a stated difference. */
export interface FoundDifference {
  /** Index of the call in the script; nothing for the counts of the whole case. */
  readonly step?: number;
  /** Place in the call's result: keys and indexes, joined by dots. */
  readonly path: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  /** Why our engine differs, when the case states it. */
  readonly reason?: string;
  /** True when the case states exactly this difference, or says in words that there is one. */
  readonly stated: boolean;
}

/** Compares what an engine gave with what the reference engine gave; a case's stated differences count for ours only. */
export function compareCase(
  subject: CaseForm,
  expected: Outcome,
  played: PlayedCase,
  options: { ours: boolean },
): FoundDifference[] {
  const ours = options.ours && Array.isArray(subject.ours) ? subject.ours : [];
  const inWords = options.ours && typeof subject.ours === "string" ? subject.ours : undefined;
  const messages = played.thrown;
  const found: FoundDifference[] = [];
  const stepCount = Math.max(expected.steps.length, played.steps.length);
  for (let step = 0; step < stepCount; step += 1) {
    const differences = differencesAt(expected.steps[step], played.steps[step], messages);
    found.push(
      ...judgeStep(step, differences, ours, { expected: expected.steps[step], actual: played.steps[step] }),
    );
  }
  const counts = differencesAt(expectedCalls(expected, ours), played.calls, messages);
  found.push(...counts.map(({ path, ...rest }) => ({ path: join("calls", path), ...rest, stated: false })));
  // A graph that one engine refuses has no results that words could speak of.
  if (inWords === undefined || found.some(({ path }) => path === "compile")) return found;
  return found.map((one) => ({ ...one, reason: inWords, stated: true }));
}

type Unjudged = Pick<FoundDifference, "path" | "expected" | "actual">;

/**
 * A stated difference replaces what the reference gave at its place. What our engine gives there must be the stated
 * value: another one, the reference's own included, is an unstated difference.
 */
function judgeStep(
  step: number,
  differences: readonly Unjudged[],
  ours: readonly Difference[],
  results: { readonly expected: unknown; readonly actual: unknown },
): FoundDifference[] {
  const stated = ours.filter((difference) => difference.step === step);
  const elsewhere = differences.filter(({ path }) => !stated.some((one) => isWithin(path, one.path)));
  return [
    ...stated.map(({ path, value, reason }): FoundDifference => {
      const actual = at(results.actual, path);
      const asStated = differencesAt(value, actual, new Set()).length === 0;
      const expected = asStated ? at(results.expected, path) : value;
      return { step, path, expected, actual, ...(reason !== undefined && { reason }), stated: asStated };
    }),
    ...elsewhere.map((one) => ({ step, ...one, stated: false })),
  ];
}

/** Counts of the whole case are the sums of its calls, so a stated difference in one call's `ran` changes them too. */
function expectedCalls(expected: Outcome, ours: readonly Difference[]): Record<string, number> | undefined {
  const changes = ours.filter(({ path }) => ["", "ran"].includes(path) || path.startsWith("ran."));
  if (expected.calls === undefined || changes.length === 0) return expected.calls;
  const calls: Record<string, number> = {};
  expected.steps.forEach((result, step) => {
    const ran = { ...(result["ran"] as Record<string, number> | undefined) };
    for (const change of changes.filter((one) => one.step === step)) changeRan(ran, change);
    for (const [id, count] of Object.entries(ran)) calls[id] = (calls[id] ?? 0) + count;
  });
  return calls;
}

/** Puts a stated difference into the calls of nodes in one call's result. */
function changeRan(ran: Record<string, number>, { path, value }: Difference): void {
  const id = path.slice("ran.".length);
  if (id !== "") {
    if (value === undefined) delete ran[id];
    else ran[id] = value as number;
    return;
  }
  for (const known of Object.keys(ran)) delete ran[known];
  Object.assign(ran, path === "ran" ? value : (value as { ran?: object } | undefined)?.ran);
}

/** The smallest places at which two values differ. Keys without a value are the same as missing ones. */
export function differencesAt(
  expected: unknown,
  actual: unknown,
  ownMessages: ReadonlySet<string>,
): Unjudged[] {
  const found: Unjudged[] = [];
  walk("", expected, actual);
  return found;

  function walk(path: string, left: unknown, right: unknown): void {
    if (Object.is(left, right)) return;
    if (isList(left) && isList(right) && left.length === right.length) {
      left.forEach((item, index) => walk(join(path, String(index)), item, right[index]));
      return;
    }
    if (isRecord(left) && isRecord(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
        if (isForeignMessage(key, left, right, ownMessages)) continue;
        walk(join(path, key), left[key], right[key]);
      }
      return;
    }
    found.push({ path, expected: left, actual: right });
  }
}

/**
 * Engines word their own errors differently; name and code must agree. A message that a function of the case threw
 * must be passed on as it is.
 */
function isForeignMessage(
  key: string,
  expected: Record<string, unknown>,
  actual: Record<string, unknown>,
  ownMessages: ReadonlySet<string>,
): boolean {
  const isMessage =
    (key === "message" && typeof expected["error"] === "string") || isTaskError(key, expected);
  if (!isMessage) return false;
  return ![expected[key], actual[key]].some(
    (message) => typeof message === "string" && isOwn(message, ownMessages),
  );
}

const isTaskError = (key: string, expected: Record<string, unknown>): boolean =>
  key === "error" && typeof expected["name"] === "string" && typeof expected["error"] === "string";

const isOwn = (message: string, ownMessages: ReadonlySet<string>): boolean =>
  [...ownMessages].some((own) => own === message || (own.split("\n")[0] ?? "").startsWith(message));

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const join = (path: string, key: string): string =>
  path === "" ? key : key === "" ? path : `${path}.${key}`;

/** Paths may be written with dots, brackets or slashes; node names may hold slashes, so those only lead a path. */
const normalPath = (path: string): string =>
  path.startsWith("/") ? path.slice(1).replaceAll("/", ".") : path.replaceAll(/\[(\d+)\]/g, ".$1");

function isWithin(path: string, place: string): boolean {
  const outer = normalPath(place);
  return outer === "" || path === outer || path.startsWith(`${outer}.`);
}

function at(value: unknown, path: string): unknown {
  if (normalPath(path) === "") return value;
  return normalPath(path)
    .split(".")
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined | null)?.[key], value);
}
