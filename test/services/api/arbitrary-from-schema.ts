/** Values that fit a JSON Schema, and some that are just beside it: enough of the language for our own document. */
import fc from "fast-check";

export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** One value in so many is anything at all, at any depth. */
const besideIt = 25;

export function arbitraryFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: fitting(schema), weight: besideIt - 1 },
    { arbitrary: fc.jsonValue({ maxDepth: 2 }), weight: 1 },
  );
}

/** @throws for a schema that this generator doesn't know: it must not silently generate less than the document says */
function fitting(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  switch (schema.type) {
    case "string":
      return schema.pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(schema.pattern));
    case "integer":
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 - 1 });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(arbitraryFor(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        // One more than fits, now and then.
        maxLength: (schema.maxItems ?? 10) + 1,
      });
    case "object":
      return object(schema);
    default:
      throw new Error(`The generator doesn't know ${JSON.stringify(schema)}.`);
  }
}

function object({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, arbitraryFor(schema)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}
