import { sql, type CompiledQuery, type RawBuilder } from "kysely";

import type { Ledger } from "./database.js";
import { prepared } from "./prepared-statements.js";

/** The types that a parameter of this kind may have on the server. JSON is sent as text and read there. */
type ServerTypeOf<Value> = [NonNullable<Value>] extends [string]
  ? "text"
  : [NonNullable<Value>] extends [number]
    ? "integer" | "bigint"
    : [NonNullable<Value>] extends [boolean]
      ? "boolean"
      : "jsonb";

type ServerTypes<Given> = { readonly [Name in keyof Given]-?: ServerTypeOf<Given[Name]> };
type Placeholders<Given> = { readonly [Name in keyof Given]-?: RawBuilder<Given[Name]> };

/**
 * A statement whose text never changes: it is put together once for the process, and prepared once for each
 * connection. Put together for each call, the two of an undisturbed operation took a fifth of its processor time.
 *
 * Each parameter has one place, `$1::text`, however often the text names it, and a type of its own, so that the
 * server never has to guess one from where it stands.
 *
 * ```ts
 * const find = fixedStatement<{ key: string }, { state: string }>(
 *   { key: "text" },
 *   ({ key }) => sql`select state from operations where key = ${key}`,
 * );
 * const rows = await find(ledger, { key: "…" });
 * ```
 *
 * @param types the server's type of each parameter.
 * @param build gives the text from the parameters' places; called once, at the first use.
 * @returns runs it, alone or as part of the caller's transaction, and gives its rows.
 * @throws TypeError at the first use when the text holds a value that isn't one of the parameters: it would be that
 *   of the first call for ever.
 */
export function fixedStatement<Given extends object, Row>(
  types: ServerTypes<Given>,
  build: (given: Placeholders<Given>) => RawBuilder<unknown>,
): (ledger: Ledger, given: Given) => Promise<readonly Row[]> {
  const names = Object.keys(types) as (keyof Given & string)[];
  const isJson = names.map((name) => types[name] === "jsonb");
  let compiled: CompiledQuery | undefined;
  return async (ledger, given) => {
    compiled ??= compile(ledger, types, names, build);
    const parameters = names.map((name, index) => {
      const value: unknown = given[name] ?? null;
      return isJson[index] && value !== null ? JSON.stringify(value) : value;
    });
    const { rows } = await ledger.executeQuery({ ...compiled, parameters });
    return rows as readonly Row[];
  };
}

function compile<Given extends object>(
  ledger: Ledger,
  types: ServerTypes<Given>,
  names: readonly (keyof Given & string)[],
  build: (given: Placeholders<Given>) => RawBuilder<unknown>,
): CompiledQuery {
  const places = names.map((name, index) => [name, sql.raw(`$${index + 1}::${types[name]}`)] as const);
  const text = build(Object.fromEntries(places) as Placeholders<Given>);
  const compiled = sql`${prepared}${text}`.compile(ledger);
  if (compiled.parameters.length > 0) {
    throw new TypeError(
      `A fixed statement holds a value of its first call: ${JSON.stringify(compiled.parameters)}. ` +
        `Allowed are its parameters (${names.join(", ")}) and literals.`,
    );
  }
  return compiled;
}
