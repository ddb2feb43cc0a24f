import { GraphError } from "./errors.js";

const reservedPrefix = "__";

/**
 * Refuses a name that can't be one: ids, namespaces and channel names are made from names with `|`, `:` and NUL
 * between them, and names of the engine's own begin with two underscores.
 */
export function checkName(name: unknown, place: string): asserts name is string {
  const problem =
    typeof name !== "string" || name === ""
      ? "allowed is a text that isn't empty"
      : name.startsWith(reservedPrefix)
        ? 'names that begin with "__" are reserved'
        : /[|:]|[^\P{Cc}]/u.test(name)
          ? '"|", ":" and control characters are reserved'
          : undefined;
  if (problem !== undefined)
    throw new GraphError("GraphDefinitionError", `${place} is ${JSON.stringify(name)}; ${problem}`);
}
