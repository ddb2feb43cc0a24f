import type { JsonObject } from "./json.js";
import { GraphError } from "./errors.js";

/** JSON Schema as data; `schema-check.ts` lists the keywords that are understood. */
export type JsonSchema = JsonObject | boolean;

/** Phantom carrier of the type that a schema describes. */
export interface TypedSchema<Value> {
  readonly "~type"?: Value;
}

/** What libraries such as zod offer: types and a JSON Schema under one well-known key. */
export interface StandardSchema<Value> {
  readonly "~standard": {
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined;
    readonly jsonSchema: {
      readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** A JSON Schema (its type given by `schema<T>(…)`) or a schema of a library that can say itself as JSON Schema. */
export type Schema<Value = unknown> = (JsonObject & TypedSchema<Value>) | StandardSchema<Value>;

/** The type that a schema describes. */
export type SchemaValue<S> =
  S extends StandardSchema<infer Value> ? Value : S extends TypedSchema<infer Value> ? Value : never;

/** Gives a JSON Schema its type. */
export function schema<Value>(jsonSchema: JsonObject): JsonObject & TypedSchema<Value> {
  return jsonSchema;
}

/** The schema as data for the manifest. */
export function toJsonSchema(given: Schema<unknown>, place: string): JsonSchema {
  if ("~standard" in given) {
    const standard = (given as StandardSchema<unknown>)["~standard"];
    if (typeof standard.jsonSchema?.input !== "function")
      throw new GraphError(
        "GraphDefinitionError",
        `${place} is a schema that can't say itself as JSON Schema; pass a JSON Schema or a library's schema that can`,
      );
    const { $schema: _dialect, ...described } = standard.jsonSchema.input({ target: "draft-2020-12" });
    return described as JsonObject;
  }
  return given as JsonObject;
}
