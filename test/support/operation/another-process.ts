import type { OperationJournal } from "../../../activities/operation/journal.js";

export type JournalVerb = keyof OperationJournal;

/** Stands around each verb: may hold it, fail it, or do something else. */
export type AroundVerb = (
  verb: JournalVerb,
  argument: never,
  call: () => Promise<unknown>,
) => Promise<unknown>;

const verbs: readonly JournalVerb[] = [
  "read",
  "intend",
  "takeOver",
  "submit",
  "confirm",
  "accept",
  "failAtProvider",
  "markUnknown",
  "refuse",
  "park",
  "nextTry",
  "answer",
];

/**
 * The same rows as another process has them: another journal object, which `perform` therefore connects with none of
 * the calls that this process made.
 */
export function anotherProcess(
  journal: OperationJournal,
  around: AroundVerb = (_verb, _argument, call) => call(),
): OperationJournal {
  return Object.fromEntries(
    verbs.map((verb) => [
      verb,
      (argument: never) => around(verb, argument, () => journal[verb](argument) as Promise<unknown>),
    ]),
  ) as unknown as OperationJournal;
}
