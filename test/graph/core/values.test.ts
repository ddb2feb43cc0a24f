import { describe, expect, it } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import {
  defaultRefusals,
  retryDelayMs,
  type ErrorData,
  type Json,
  type JsonSchema,
} from "../../../graph/index.js";
import { toMs } from "../../../graph/core/durations.js";
import { errorData } from "../../../graph/core/errors.js";
import { plain } from "../../../graph/core/plain.js";
import { retryRule } from "../../../graph/core/policies.js";
import { checkSchema, schemaProblem } from "../../../graph/core/schema-check.js";

describe("plain JSON", () => {
  it("is a frozen copy of what was handed over", () => {
    const given = { list: [1, { deep: true }], text: "a", none: null, gone: undefined, hole: [undefined] };
    const copy = plain(given, "value") as { list: [number, { deep: boolean }] };
    given.list.push(2);
    expect(copy).toEqual({ list: [1, { deep: true }], text: "a", none: null, hole: [null] });
    expect(() => ((copy.list[1] as { deep: boolean }).deep = false)).toThrow(TypeError);
    expect(plain(undefined, "value")).toBeNull();
    expect(plain(Object.create(null), "value")).toEqual({});
  });

  it("keeps every JSON value as it comes back from JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes("__proto__"));
        expect(plain(value, "value")).toEqual(JSON.parse(text));
      }),
    );
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = { circle };
  it.each([
    ["a date", { at: [new Date(0)] }, "value.at[0] is an object of class Date"],
    ["a function", { f: () => 1 }, "value.f is a function"],
    ["a bigint", 1n, "value is a bigint"],
    ["a symbol", [Symbol("s")], "value[0] is a symbol"],
    ["infinity", { n: Infinity }, "value.n is Infinity"],
    ["a circle", circle, "value.self.circle is part of itself"],
    [
      "a field that would become a prototype",
      JSON.parse('{"a":{"__proto__":1}}'),
      'value.a is an object with the field "__proto__"',
    ],
    ["a map", new Map(), "value is an object of class Map"],
    ["an object of a nameless class", Object.create(Object.create({})), "value is an object of class"],
  ])("is not %s", (_what, value, message) => {
    expect(() => plain(value, "value")).toThrow(message);
  });

  it("may hold one object in two places", () => {
    const shared = { n: 1 };
    expect(plain([shared, shared], "value")).toEqual([{ n: 1 }, { n: 1 }]);
  });
});

describe("durations", () => {
  it.each([
    [1500, 1500],
    ["250ms", 250],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
  ] as const)("%s", (text, expected) => {
    expect(toMs(text, "it")).toBe(expected);
  });

  it.each([0, -1, NaN, "1", "s", "1 s", "0s"])("not %s", (text) => {
    expect(() => toMs(text as never, "it")).toThrow("it is ");
  });
});

describe("retrying", () => {
  const error = (more: Partial<ErrorData> = {}): ErrorData => ({ name: "Error", message: "boom", ...more });
  const rule = retryRule({}, "node");

  it("waits longer each time, up to a limit, for as many attempts as there are", () => {
    const slow = retryRule(
      { attempts: 9, initialInterval: "1s", backoffFactor: 3, maxInterval: "20s" },
      "node",
    );
    expect([1, 2, 3, 4, 9].map((failed) => retryDelayMs(slow, error(), failed))).toEqual([
      1000,
      3000,
      9000,
      20_000,
      undefined,
    ]);
    expect([1, 2, 3].map((failed) => retryDelayMs(rule, error(), failed))).toEqual([500, 1000, undefined]);
    expect(rule).toMatchObject({ attempts: 3, jitterMs: 1000, refuse: defaultRefusals });
    expect(retryRule({ jitter: false }, "node").jitterMs).toBe(0);
  });

  it("needs a policy", () => {
    expect(retryDelayMs(undefined, error(), 1)).toBeUndefined();
  });

  it.each([
    ["a name", error({ name: "AbortError" })],
    ["a code", error({ code: "insufficient_quota" })],
    ["a status", error({ status: 404 })],
    ["a message", error({ message: "Cancelled" })],
  ])("is refused by %s", (_what, refused) => {
    expect(retryDelayMs(rule, refused, 1)).toBeUndefined();
  });

  it("takes 429 and 500", () => {
    expect([429, 500].map((status) => retryDelayMs(rule, error({ status }), 1))).toEqual([500, 500]);
  });

  it("goes by name alone when names are given", () => {
    const named = retryRule({ retryOn: ["Busy"] }, "node");
    expect(retryDelayMs(named, error(), 1)).toBeUndefined();
    expect(retryDelayMs(named, error({ name: "Busy", status: 404 }), 1)).toBe(500);
  });
});

describe("an error as data", () => {
  it.each([
    ["a text", "boom", { name: "Error", message: "boom" }],
    ["null", null, { name: "Error", message: "null" }],
    ["an error", new TypeError("no"), { name: "TypeError", message: "no" }],
    [
      "a status",
      Object.assign(new Error("no"), { status: 404 }),
      { name: "Error", message: "no", status: 404 },
    ],
    [
      "an answer's status",
      Object.assign(new Error("no"), { response: { status: 500 } }),
      { name: "Error", message: "no", status: 500 },
    ],
    ["a code", Object.assign(new Error("no"), { code: "E1" }), { name: "Error", message: "no", code: "E1" }],
    [
      "a nested code",
      Object.assign(new Error("no"), { error: { code: "E2" } }),
      { name: "Error", message: "no", code: "E2" },
    ],
    ["an object", {}, { name: "Error", message: "" }],
  ])("keeps what %s says", (_what, thrown, expected) => {
    expect(errorData(thrown)).toEqual(expected);
  });
});

describe("checking a value by its schema", () => {
  const cases: readonly [JsonSchema, Json, string | undefined][] = [
    [true, 1, undefined],
    [false, 1, "v isn't allowed"],
    [{ type: "number" }, "a", 'v is "a"; it must be of type number'],
    [{ type: ["string", "null"] }, null, undefined],
    [{ type: "integer" }, 1.5, "v is 1.5; it must be of type integer"],
    [{ type: "array" }, {}, "v is {}; it must be of type array"],
    [{ type: "object" }, [], "v is []; it must be of type object"],
    [{ type: "boolean" }, true, undefined],
    [{ enum: ["a", { b: 1 }] }, { b: 1 }, undefined],
    [{ enum: ["a"] }, "b", 'v is "b"; allowed are "a"'],
    [{ const: [1, 2] }, [1, 2], undefined],
    [{ const: 1 }, 2, "v is 2; it must be 1"],
    [{ properties: { a: { type: "number" } } }, { a: "x" }, 'v.a is "x"; it must be of type number'],
    [
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, b: 2 },
      "v.b isn't allowed; allowed are a",
    ],
    [{ additionalProperties: false }, { b: 2 }, "v.b isn't allowed; allowed are no fields"],
    [{ additionalProperties: { type: "number" } }, { b: "x" }, 'v.b is "x"; it must be of type number'],
    [{ properties: { a: {} } }, 1, undefined],
    [{ required: ["a"] }, { b: 1 }, "v.a is missing"],
    [{ required: ["a"] }, { a: null }, undefined],
    [{ required: ["a"] }, 1, undefined],
    [{ items: { type: "number" } }, [1, "x"], 'v[1] is "x"; it must be of type number'],
    [{ items: { type: "number" } }, 1, undefined],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, null, undefined],
    [{ anyOf: [{ type: "number" }] }, "x", 'v is "x"; it fits none of the allowed forms'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, "v is 3; it must fit exactly one of the allowed forms"],
    [{ oneOf: [{ minimum: 1 }, { minimum: 5 }] }, 3, undefined],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, "v is 3; it must be at most 2"],
    [{ not: { type: "null" } }, null, "v is null, which isn't allowed"],
    [{ not: { type: "null" } }, 1, undefined],
    [{ $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, "x", 'v is "x"; it must be of type number'],
    [{ minimum: 2 }, 1, "v is 1; it must be at least 2"],
    [{ exclusiveMinimum: 1 }, 1, "v is 1; it must be greater than 1"],
    [{ exclusiveMaximum: 1 }, 1, "v is 1; it must be less than 1"],
    [{ multipleOf: 3 }, 4, "v is 4; it must be a multiple of 3"],
    [{ minLength: 2 }, "😀", "v must have a length of at least 2, it has 1"],
    [{ maxLength: 2 }, "abc", "v must have a length of at most 2, it has 3"],
    [{ minItems: 1 }, [], "v must have at least this many entries: 1, it has 0"],
    [{ maxItems: 1 }, [1, 2], "v must have at most this many entries: 1, it has 2"],
    [{ minProperties: 1 }, {}, "v must have at least this many fields: 1, it has 0"],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, "v must have at most this many fields: 1, it has 2"],
    [{ pattern: "^a" }, "b", 'v is "b"; it must match ^a'],
    [{ pattern: "^a" }, 1, undefined],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "v has an entry twice",
    ],
    [{ uniqueItems: false }, [1, 1], undefined],
    [{ title: "a number", format: "int32" }, 1, undefined],
  ];

  it.each(cases)("%j on %j", (jsonSchema, value, problem) => {
    expect(schemaProblem(value, jsonSchema, "v")).toBe(problem);
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(jsonSchema as object)(value);
    expect(problem === undefined, "agrees with Ajv").toBe(fits);
  });

  it("follows references to itself, and with escapes", () => {
    const tree = { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false };
    expect(schemaProblem({ next: { next: {} } }, tree, "v")).toBeUndefined();
    expect(schemaProblem({ next: { no: 1 } }, tree, "v")).toContain("v.next.no isn't allowed");
    const escaped = { $ref: "#/$defs/a~1b~0c", $defs: { "a/b~c": { const: 1 } } };
    expect(schemaProblem(2, escaped, "v")).toBe("v is 2; it must be 1");
  });

  it.each([
    [
      "an unknown keyword, however deep",
      { properties: { a: { items: { color: "red" } } } },
      'it.a.items has the schema keyword "color"',
    ],
    ["one in a list of forms", { anyOf: [{}, { color: "red" }] }, "it.anyOf[1] has the schema keyword"],
    ["one in a definition", { $defs: { a: { not: { color: "red" } } } }, "it.a.not has the schema keyword"],
    ["a reference to nothing", { $ref: "#/$defs/a" }, 'refers to "#/$defs/a"'],
    ["a reference to elsewhere", { $ref: "other.json" }, 'refers to "other.json"'],
    ["a pattern that is none", { pattern: "(" }, 'has the pattern "("'],
    ["an unknown type", { type: ["number", "date"] }, 'has the type "date"'],
    ["what isn't a schema", { items: 1 }, "it.items is 1; a JSON Schema is an object or a boolean"],
  ])("refuses a schema with %s", (_what, jsonSchema, message) => {
    expect(() => checkSchema(jsonSchema as JsonSchema, "it")).toThrow(message);
  });

  it("takes a schema whose keywords it understands", () => {
    expect(() =>
      checkSchema({ additionalProperties: true, allOf: [{ type: "string" }], default: {} }, "it"),
    ).not.toThrow();
  });
});
