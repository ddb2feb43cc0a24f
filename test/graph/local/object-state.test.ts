import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRunner, defineGraph, END, implement, object, replace, START } from "../../../graph/index.js";

const model = z.object({ count: z.number(), note: z.string().optional(), tags: z.array(z.string()) });

function runnerOf(result: () => unknown, more: { second?: () => unknown } = {}) {
  const graph = defineGraph({
    name: "model",
    version: "1",
    state: object(model, { default: { count: 0, tags: [] } }),
  })
    .node("a")
    .node("b")
    .edge(START, "a")
    .route("a", [END, "b"], { name: "next" })
    .edge(START, "b")
    .build();
  return createRunner(
    implement(graph, {
      nodes: { a: result as () => null, b: (more.second ?? (() => null)) as () => null },
      routes: { next: (state) => (state.count > 10 ? "b" : END) },
    }),
  );
}

describe("an object-state graph", () => {
  it("merges an object one level deep", async () => {
    const { values } = await runnerOf(() => ({ note: "new", tags: ["x"] })).invoke({ count: 1 });
    expect(values).toEqual({ count: 1, note: "new", tags: ["x"] });
  });

  it.each([null, undefined])("keeps the state for %s", async (nothing) => {
    expect((await runnerOf(() => nothing).invoke({ count: 2 })).values).toEqual({ count: 2, tags: [] });
  });

  it("replaces all with a model, as input too", async () => {
    const replaced = replace({ count: 5, tags: ["only"] });
    expect((await runnerOf(() => replaced).invoke({ count: 1, note: "gone" })).values).toEqual({
      count: 5,
      tags: ["only"],
    });
    expect((await runnerOf(() => null).invoke(replaced)).values).toEqual({ count: 5, tags: ["only"] });
  });

  it.each([
    ["a number", 1],
    ["a text", ""],
    ["a list", [1]],
  ])("refuses %s as a TypeError", async (_what, result) => {
    await expect(runnerOf(() => result).invoke({ count: 1 })).rejects.toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("takes an object to merge, replace(model) or null") as string,
    });
  });

  it("refuses a field of the wrong type, and a model that isn't whole", async () => {
    await expect(runnerOf(() => ({ count: "one" })).invoke({ count: 1 })).rejects.toMatchObject({
      name: "TypeError",
      message: expect.stringContaining('.count is "one"') as string,
    });
    await expect(runnerOf(() => replace({ count: 1 } as never)).invoke({ count: 1 })).rejects.toThrow(
      ".tags is missing",
    );
  });

  it.each([
    ["the same field", { count: 1 }, { count: 2 }, 'field "count" got more than one value'],
    [
      "a replacement beside an update",
      replace({ count: 1, tags: [] }),
      { count: 2 },
      "a replacement came beside another update",
    ],
  ])("refuses two nodes of one step that write %s", async (_what, first, second, message) => {
    await expect(runnerOf(() => first, { second: () => second }).invoke({ count: 0 })).rejects.toMatchObject({
      code: "INVALID_CONCURRENT_GRAPH_UPDATE",
      message: expect.stringContaining(message) as string,
    });
  });

  it("lets two nodes of one step write different fields, and routes see the node's own", async () => {
    const runner = runnerOf(() => ({ count: 11 }), { second: () => ({ note: "b" }) });
    expect((await runner.invoke({ count: 0 })).values).toEqual({ count: 11, note: "b", tags: [] });
    expect((await runner.state()).values).toEqual({ count: 11, note: "b", tags: [] });
    expect((await runner.history()).map(({ next }) => next)).toEqual([[], ["b"], ["a", "b"], ["__start__"]]);
  });
});
