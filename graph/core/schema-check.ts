import { GraphError } from "./errors.js";
import { canonicalJson } from "./hash.js";
import { has, isJsonObject, type Json, type JsonObject } from "./json.js";
import type { JsonSchema } from "./schema.js";

type Check = (value: Json, operand: Json, context: Context, place: string) => string | undefined;

interface Context {
  readonly root: JsonSchema;
  readonly parent: JsonObject;
}

const typeChecks: Record<string, (value: Json) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === "string",
  array: (value) => Array.isArray(value),
  object: isJsonObject,
};

const list = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [value]);
const equal = (a: Json, b: Json): boolean => canonicalJson(a) === canonicalJson(b);
const say = (value: Json): string => JSON.stringify(value);

function numeric(words: string, holds: (value: number, operand: number) => boolean): Check {
  return (value, operand, _context, place) =>
    typeof value === "number" && !holds(value, operand as number)
      ? `${place} is ${say(value)}; it must be ${words} ${say(operand)}`
      : undefined;
}

function sized(
  words: string,
  size: (value: Json) => number | undefined,
  holds: (a: number, b: number) => boolean,
): Check {
  return (value, operand, _context, place) => {
    const actual = size(value);
    return actual !== undefined && !holds(actual, operand as number)
      ? `${place} must have ${words} ${say(operand)}, it has ${actual}`
      : undefined;
  };
}

const lengthOf = (value: Json) => (typeof value === "string" ? [...value].length : undefined);
const itemsOf = (value: Json) => (Array.isArray(value) ? (value as readonly Json[]).length : undefined);
const fieldsOf = (value: Json) => (isJsonObject(value) ? Object.keys(value).length : undefined);
const atLeast = (a: number, b: number) => a >= b;
const atMost = (a: number, b: number) => a <= b;

function firstProblem(problems: Iterable<string | undefined>): string | undefined {
  for (const problem of problems) if (problem !== undefined) return problem;
  return undefined;
}

function fits(value: Json, schema: Json, context: Context): boolean {
  return problemOf(value, schema as JsonSchema, context.root, "value") === undefined;
}

function* objectProblems(value: JsonObject, context: Context, place: string): Iterable<string | undefined> {
  const properties = (context.parent["properties"] ?? {}) as JsonObject;
  const additional = context.parent["additionalProperties"];
  for (const [key, field] of Object.entries(value)) {
    if (has(properties, key))
      yield problemOf(field, properties[key] as JsonSchema, context.root, `${place}.${key}`);
    else if (additional === false)
      yield `${place}.${key} isn't allowed; allowed are ${Object.keys(properties).join(", ") || "no fields"}`;
    else if (additional !== undefined)
      yield problemOf(field, additional as JsonSchema, context.root, `${place}.${key}`);
  }
}

const objectCheck: Check = (value, _operand, context, place) =>
  isJsonObject(value) ? firstProblem(objectProblems(value, context, place)) : undefined;

const checks: Record<string, Check> = {
  type: (value, operand, _context, place) =>
    list(operand).some((name) => typeChecks[name as string]!(value))
      ? undefined
      : `${place} is ${say(value)}; it must be of type ${list(operand).join(" or ")}`,
  enum: (value, operand, _context, place) =>
    list(operand).some((allowed) => equal(value, allowed))
      ? undefined
      : `${place} is ${say(value)}; allowed are ${list(operand).map(say).join(", ")}`,
  const: (value, operand, _context, place) =>
    equal(value, operand) ? undefined : `${place} is ${say(value)}; it must be ${say(operand)}`,
  properties: objectCheck,
  additionalProperties: objectCheck,
  required: (value, operand, _context, place) => {
    const missing = isJsonObject(value) && list(operand).find((key) => !has(value, key as string));
    return typeof missing === "string" ? `${place}.${missing} is missing` : undefined;
  },
  items: (value, operand, context, place) =>
    Array.isArray(value)
      ? firstProblem(
          (value as readonly Json[]).map((item, index) =>
            problemOf(item, operand as JsonSchema, context.root, `${place}[${index}]`),
          ),
        )
      : undefined,
  anyOf: (value, operand, context, place) =>
    list(operand).some((schema) => fits(value, schema, context))
      ? undefined
      : `${place} is ${say(value)}; it fits none of the allowed forms`,
  oneOf: (value, operand, context, place) =>
    list(operand).filter((schema) => fits(value, schema, context)).length === 1
      ? undefined
      : `${place} is ${say(value)}; it must fit exactly one of the allowed forms`,
  allOf: (value, operand, context, place) =>
    firstProblem(list(operand).map((schema) => problemOf(value, schema as JsonSchema, context.root, place))),
  not: (value, operand, context, place) =>
    fits(value, operand, context) ? `${place} is ${say(value)}, which isn't allowed` : undefined,
  $ref: (value, operand, context, place) =>
    problemOf(value, resolve(context.root, operand as string)!, context.root, place),
  minimum: numeric("at least", atLeast),
  maximum: numeric("at most", atMost),
  exclusiveMinimum: numeric("greater than", (value, operand) => value > operand),
  exclusiveMaximum: numeric("less than", (value, operand) => value < operand),
  multipleOf: numeric("a multiple of", (value, operand) => Number.isInteger(value / operand)),
  minLength: sized("a length of at least", lengthOf, atLeast),
  maxLength: sized("a length of at most", lengthOf, atMost),
  minItems: sized("at least this many entries:", itemsOf, atLeast),
  maxItems: sized("at most this many entries:", itemsOf, atMost),
  minProperties: sized("at least this many fields:", fieldsOf, atLeast),
  maxProperties: sized("at most this many fields:", fieldsOf, atMost),
  pattern: (value, operand, _context, place) =>
    typeof value === "string" && !new RegExp(operand as string, "u").test(value)
      ? `${place} is ${say(value)}; it must match ${operand as string}`
      : undefined,
  uniqueItems: (value, operand, _context, place) =>
    operand === true &&
    Array.isArray(value) &&
    new Set((value as readonly Json[]).map(canonicalJson)).size !== value.length
      ? `${place} has an entry twice`
      : undefined,
};

/** Keywords that say something to people and nothing to a check. `format` is one, as the standard leaves it open. */
const silent = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "format",
]);

function resolve(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: Json | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) && has(found, key) ? found[key] : undefined;
  }
  return found as JsonSchema | undefined;
}

function problemOf(value: Json, schema: JsonSchema, root: JsonSchema, place: string): string | undefined {
  if (typeof schema === "boolean") return schema ? undefined : `${place} isn't allowed`;
  for (const keyword of Object.keys(schema)) {
    const problem = checks[keyword]?.(value, schema[keyword]!, { root, parent: schema }, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What is wrong with the value, or undefined when it fits; `place` names the value in the answer. */
export function schemaProblem(value: Json, schema: JsonSchema, place: string): string | undefined {
  return problemOf(value, schema, schema, place);
}

/**
 * Refuses a schema with a keyword that isn't understood, because ignoring one would let a wrong value pass.
 *
 * @throws GraphError `GraphDefinitionError`, naming the place and the keyword
 */
export function checkSchema(schema: JsonSchema, place: string): void {
  walk(schema, schema, place);
}

function walk(schema: Json, root: JsonSchema, place: string): void {
  if (typeof schema === "boolean") return;
  if (!isJsonObject(schema))
    throw new GraphError(
      "GraphDefinitionError",
      `${place} is ${say(schema)}; a JSON Schema is an object or a boolean`,
    );
  for (const [keyword, operand] of Object.entries(schema)) {
    if (keyword === "$defs" || keyword === "definitions" || keyword === "properties")
      for (const [key, part] of Object.entries(operand as JsonObject)) walk(part, root, `${place}.${key}`);
    else if (keyword === "items" || keyword === "not" || keyword === "additionalProperties")
      walk(operand, root, `${place}.${keyword}`);
    else if (keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf")
      list(operand).forEach((part, index) => walk(part, root, `${place}.${keyword}[${index}]`));
    else checkKeyword(keyword, operand, root, place);
  }
}

function checkKeyword(keyword: string, operand: Json, root: JsonSchema, place: string): void {
  if (silent.has(keyword)) return;
  if (!has(checks, keyword))
    throw new GraphError(
      "GraphDefinitionError",
      `${place} has the schema keyword "${keyword}"; understood are ${Object.keys(checks).sort().join(", ")}`,
    );
  if (keyword === "$ref" && resolve(root, operand as string) === undefined)
    throw new GraphError(
      "GraphDefinitionError",
      `${place} refers to ${say(operand)}, which isn't in the same schema`,
    );
  if (keyword === "pattern" && !isPattern(operand))
    throw new GraphError(
      "GraphDefinitionError",
      `${place} has the pattern ${say(operand)}, which is no regular expression`,
    );
  const unknown = keyword === "type" && list(operand).find((name) => !has(typeChecks, name as string));
  if (unknown !== false && unknown !== undefined)
    throw new GraphError(
      "GraphDefinitionError",
      `${place} has the type ${say(unknown)}; allowed are ${Object.keys(typeChecks).join(", ")}`,
    );
}

function isPattern(operand: Json): boolean {
  try {
    return new RegExp(operand as string, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
