/**
 * What the statements of the operation verbs share.
 *
 * They are written as SQL and not through the query builder, because the whole of a verb, its guard, its change, its
 * event and its question to a person, is *one* statement, and whoever checks a guard has to see it in one piece.
 */
import { sql, type RawBuilder } from "kysely";

import type { Entrant } from "../../../activities/operation/journal.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import { statesBefore, type Verb } from "../../../activities/operation/states.js";
import { withRetry } from "../retryable.js";

/** `o.state` is one of those that the transition table allows the verb. */
export function inStateBefore(verb: Verb): RawBuilder<boolean> {
  return sql`o.state in (${sql.join(statesBefore(verb).map((state) => sql.lit(state)))})`;
}

/** A JSON parameter; `null` is SQL's null. */
export function json(value: JsonValue | null): RawBuilder<JsonValue> {
  return sql`${value === null ? null : JSON.stringify(value)}::jsonb`;
}

/** A value, or an expression that gives it: a statement whose text is fixed has the place of a parameter there. */
type Given<Value> = Value | RawBuilder<Value>;

export interface EventText {
  readonly why: Given<string>;
  readonly detail?: JsonValue;
  /** In place of `detail`, where the text is fixed. */
  readonly detailExpression?: RawBuilder<unknown>;
  /** Default: the operation's; given where an old epoch may write. */
  readonly epoch?: Given<number>;
}

/**
 * One event for each row of the part called `changed`. In the same statement as the change, so there is no change
 * without its event and no event without its change.
 */
export function recordEvent(
  verb: Verb,
  entrant: { readonly [Name in keyof Entrant]: Given<Entrant[Name]> },
  text: EventText,
): RawBuilder<unknown> {
  const detail = text.detail === undefined ? sql`null::jsonb` : json(text.detail);
  return sql`
    insert into operation_events (key, at, verb, state, epoch, try_number, attempt, worker, why, detail)
    select key, ledger_now(), ${sql.lit(verb)}, state, ${text.epoch === undefined ? sql`epoch` : sql`${text.epoch}::integer`},
           try_number, ${entrant.attempt}::integer, ${entrant.worker}::text, ${text.why}::text, ${text.detailExpression ?? detail}
    from changed`;
}

/** The answers that a question about a parked operation takes. */
export const parkAnswers = sql.lit("{adopt,absent,redrive}");

export const stale = { result: "stale" } as const;

/**
 * Runs a verb so that it gives the same result however often it had to be made.
 *
 * After a failure in which the write may have happened, and after a write that changed nothing, the row is read by
 * its key: when it is already what this very call asked for, an earlier run of it was the one that wrote.
 *
 * @param write one statement; `undefined` when its guard didn't hold.
 * @param readBack the verb's result when the row shows that it was written, else `undefined`.
 */
export async function once<Result>(
  write: () => Promise<Result | undefined>,
  readBack: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  return withRetry(async () => (await write()) ?? (await readBack()), { readBack });
}
