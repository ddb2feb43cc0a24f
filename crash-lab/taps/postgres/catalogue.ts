/** Asks a database which of its functions write, so that a SELECT that calls one isn't taken for a read. */
import {
  catalogueQuery,
  functionsOfCatalogue,
  type CatalogueFunction,
  type FunctionKnowledge,
} from "./functions.js";
import { createStatementReader } from "./statements.js";

/**
 * @param query runs a statement past the taps and gives its rows.
 * @returns what a Postgres tap takes as `functions`. It is as old as the catalogue that was read: load it after the
 *   migrations.
 */
export async function loadFunctionKnowledge(
  query: (sql: string) => Promise<readonly CatalogueFunction[]>,
): Promise<FunctionKnowledge> {
  const rows = await query(catalogueQuery);
  // A function in SQL may call another that writes, and that one the next; each pass finds one step more.
  let knowledge = functionsOfCatalogue(rows, () => false);
  for (let pass = 0; pass <= rows.length; pass += 1) {
    const reader = await createStatementReader(knowledge);
    const next = functionsOfCatalogue(rows, (sql) => reader.read(sql).some(({ writes }) => writes));
    const changed = rows.some(({ name }) => next.writes(name) !== knowledge.writes(name));
    knowledge = next;
    if (!changed) break;
  }
  return knowledge;
}
