/**
 * Does a function that a SELECT calls write? The grammar can't tell, so it is looked up.
 *
 * A write that is taken for a read is a hole in the windows and nobody notices; a read that is taken for a write
 * costs a window or shows up as unattributed. So whoever can ask the database should load its catalogue; without
 * it, functions of the server itself are known and others are taken for reads, which the count against the
 * server's statement log can't contradict either.
 */
export interface FunctionKnowledge {
  /** @param name lower-case, with its schema when the statement gave one. */
  writes(name: string): boolean;
}

/** Functions of the server itself that change data. Sequences aren't data: a lost number harms nobody. */
const writingBuiltIns: ReadonlySet<string> = new Set([
  "setval",
  "lo_create",
  "lo_creat",
  "lo_from_bytea",
  "lo_import",
  "lo_put",
  "lo_truncate",
  "lo_truncate64",
  "lo_unlink",
  "lowrite",
  "pg_logical_emit_message",
  "pg_replication_origin_advance",
]);

const unqualified = (name: string) => name.slice(name.lastIndexOf(".") + 1);

/** What is assumed when nothing was loaded. */
export const builtInFunctions: FunctionKnowledge = {
  writes: (name) => writingBuiltIns.has(unqualified(name)),
};

/** One row of the server's catalogue. */
export interface CatalogueFunction {
  readonly name: string;
  /** `i` immutable, `s` stable, `v` volatile; the server refuses writes in the first two. */
  readonly volatility: string;
  readonly language: string;
  readonly source: string;
}

/** Functions that people made in this database. */
export const catalogueQuery = `
  select p.proname as name, p.provolatile as volatility, l.lanname as language, coalesce(p.prosrc, '') as source
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname not in ('pg_catalog', 'information_schema')`;

/**
 * Knowledge from the catalogue: a volatile function of the database writes, unless it is in SQL and its body
 * doesn't.
 * @param bodyWrites whether SQL text writes, by the grammar.
 */
export function functionsOfCatalogue(
  rows: readonly CatalogueFunction[],
  bodyWrites: (sql: string) => boolean,
): FunctionKnowledge {
  const writing = new Set(
    rows
      .filter((one) => one.volatility === "v")
      // A body in the form `begin atomic` isn't kept as text, so it can't be read and counts as writing.
      .filter((one) => one.language !== "sql" || one.source === "" || bodyWrites(one.source))
      .map((one) => one.name.toLowerCase()),
  );
  return { writes: (name) => writing.has(unqualified(name)) || builtInFunctions.writes(name) };
}
