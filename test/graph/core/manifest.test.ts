import { describe, expect, it } from "vitest";
import { createHash } from "node:crypto";
import fc from "fast-check";
import {
  append,
  bounded,
  defineGraph,
  END,
  GraphRegistry,
  implement,
  last,
  manifestHash,
  START,
  schema,
  type Json,
  type Manifest,
} from "../../../graph/index.js";
import { canonicalJson, hashId, sha256Hex, utf8 } from "../../../graph/core/hash.js";

const build = (change: { codeVersion?: string; label?: string; deadline?: "1s" | "2s" } = {}) =>
  defineGraph({ name: "g", version: "1", state: { n: last<number>(), log: append<string>() } })
    .node("a", {
      codeVersion: change.codeVersion ?? "1",
      retry: { attempts: 2 },
      timeout: { idle: "1s" },
      cache: { ttl: "1m", key: ["n"] },
      interrupts: { deadline: change.deadline ?? "1s", schema: schema({ type: "string" }) },
    })
    .node("b", { cache: true, retry: { retryOn: ["Error"], jitter: false } })
    .edge(START, "a")
    .route("a", { [change.label ?? "go"]: "b", stop: END })
    .build();

function reversed(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}

describe("the hash of a manifest", () => {
  it("is the SHA-256 of its canonical JSON", () => {
    const { manifest, hash } = build();
    const text = canonicalJson(manifest as unknown as Json);
    expect(hash).toBe(createHash("sha256").update(text).digest("hex"));
  });

  it("is the same for any order of keys, and of edges, whose order means nothing", () => {
    const { manifest, hash } = build();
    expect(manifestHash(reversed(manifest as unknown as Json) as unknown as Manifest)).toBe(hash);
    const one = defineGraph({ name: "g", version: "1", state: { n: last() } })
      .node("a")
      .node("b");
    const two = defineGraph({ name: "g", version: "1", state: { n: last() } })
      .node("b")
      .node("a");
    expect(one.edge(START, "a").edge("a", "b").edge(START, "b").build().hash).toBe(
      two.edge(START, "b").edge(START, "a").edge("a", "b").build().hash,
    );
  });

  it("changes with the meaning", () => {
    const { hash } = build();
    expect(build({ codeVersion: "2" }).hash).not.toBe(hash);
    expect(build({ label: "on" }).hash).not.toBe(hash);
    expect(build({ deadline: "2s" }).hash).not.toBe(hash);
    expect(build().hash).toBe(hash);
  });

  it("changes with every value in the manifest", () => {
    const { manifest, hash } = build();
    const places: (readonly string[])[] = [];
    const walk = (value: unknown, path: readonly string[]): void => {
      if (typeof value === "object" && value !== null) {
        for (const [key, part] of Object.entries(value)) walk(part, [...path, key]);
      } else places.push(path);
    };
    walk(manifest, []);
    for (const path of places) {
      const copy = JSON.parse(JSON.stringify(manifest)) as Record<string, unknown>;
      let parent = copy;
      for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
      parent[path.at(-1)!] = "something else";
      expect(manifestHash(copy as unknown as Manifest), path.join(".")).not.toBe(hash);
    }
    expect(places.length).toBeGreaterThan(40);
  });

  it("comes with a manifest that nobody can change any more", () => {
    const { manifest } = build();
    expect(() => ((manifest.nodes as Record<string, unknown>)["c"] = {})).toThrow(TypeError);
  });
});

describe("hashing without TextEncoder and crypto", () => {
  it("gives the platform's bytes and hashes for every text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect([...utf8(text)]).toEqual([...new TextEncoder().encode(text)]);
        expect(sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
      }),
    );
  });

  it("writes a lone surrogate as the platform does", () => {
    expect([...utf8("a\ud800b")]).toEqual([...new TextEncoder().encode("a\ud800b")]);
  });

  it("tells parts apart", () => {
    expect(hashId("a", "bc")).not.toBe(hashId("ab", "c"));
    expect(hashId("a")).toHaveLength(32);
  });
});

describe("the registry", () => {
  const code = (codeVersion: string) =>
    implement(build({ codeVersion }), {
      nodes: { a: () => null, b: () => null },
      routes: { a: () => "stop" },
    });

  it("finds the newest by name and each by its hash", () => {
    const [one, two] = [code("1"), code("2")];
    const registry = new GraphRegistry().register(one).register(two);
    expect(registry.get("g")).toBe(two);
    expect(registry.get(`g@${one.graph.hash}`)).toBe(one);
    expect(registry.has("g")).toBe(true);
    expect(registry.has(`g@${two.graph.hash}`)).toBe(true);
    expect(registry.has("h")).toBe(false);
    expect(registry.manifests().map(({ hash }) => hash)).toEqual([one.graph.hash, two.graph.hash]);
  });

  it("refuses the same graph twice and says what it has when it lacks one", () => {
    const registry = new GraphRegistry();
    expect(() => registry.get("g")).toThrow("registered are: none");
    registry.register(code("1"));
    expect(() => registry.register(code("1"))).toThrow("is registered already");
    expect(() => registry.get("g@0")).toThrow(/graph "g@0" isn't registered here; registered are: g@/);
  });
});

describe("the code of a graph", () => {
  const child = defineGraph({ name: "child", version: "1", state: { n: last<number>() } })
    .node("x")
    .edge(START, "x")
    .build();
  const other = defineGraph({ name: "other", version: "1", state: { n: last<number>() } })
    .node("x")
    .edge(START, "x")
    .build();
  const parent = defineGraph({
    name: "parent",
    version: "1",
    state: { n: last<number>(), list: bounded<number>(2) },
  })
    .node("a", { onError: true })
    .subgraph("sub", child)
    .subgraph("far", child, { durable: true })
    .event("e")
    .edge(START, "a")
    .edge("a", "sub")
    .edge("a", "far")
    .build();
  const childCode = implement(child, { nodes: { x: () => null } });
  const whole = {
    nodes: { a: () => null },
    events: { e: () => null },
    errorHandlers: { a: () => null },
    subgraphs: { sub: childCode, far: childCode },
  };

  it("is taken when it is whole; a durable subgraph's may be elsewhere", () => {
    expect(implement(parent, whole).graph).toBe(parent);
    const { far: _far, ...near } = whole.subgraphs;
    expect(implement(parent, { ...whole, subgraphs: near } as never).graph).toBe(parent);
  });

  it.each([
    ["a missing event", { ...whole, events: {} }, "lacks events.e"],
    ["a missing error handler", { ...whole, errorHandlers: {} }, "lacks errorHandlers.a"],
    ["a missing subgraph", { ...whole, subgraphs: {} }, "lacks subgraphs.sub"],
    [
      "a surplus subgraph",
      { ...whole, subgraphs: { ...whole.subgraphs, no: childCode } },
      "has subgraphs.no",
    ],
    [
      "a surplus reducer",
      { ...whole, reducers: { no: () => 0 } },
      "has reducers.no, which the graph doesn't know; known are: none",
    ],
    ["what isn't a function", { ...whole, nodes: { a: 1 } }, "nodes.a that isn't a function"],
    [
      "another graph's code",
      { ...whole, subgraphs: { ...whole.subgraphs, sub: implement(other, { nodes: { x: () => null } }) } },
      "has the code of another graph as subgraphs.sub",
    ],
  ])("is refused for %s", (_what, code, message) => {
    expect(() => implement(parent, code as never)).toThrow(message);
  });
});
