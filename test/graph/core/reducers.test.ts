import { describe, expect, it } from "vitest";
import {
  any,
  append,
  bounded,
  byId,
  custom,
  ephemeral,
  last,
  max,
  merge,
  messages,
  min,
  removeAllMessages,
  removeMessage,
  sum,
  topic,
  union,
  untracked,
  defineDynamicGraph,
  START,
  type Json,
} from "../../../graph/index.js";
import { compile } from "../../../graph/core/compile.js";
import type { AnyChannel } from "../../../graph/core/state.js";
import { needsCode, updated, view } from "../../../graph/core/channels.js";
import { stampMessages } from "../../../graph/core/reducers.js";

function graphOf(channel: AnyChannel) {
  const graph = defineDynamicGraph({ name: "g", version: "1", state: { k: channel } })
    .node("a")
    .edge(START, "a")
    .build();
  return compile(graph.manifest).root;
}

/** The value after the writes of several steps, from the default on. */
function after(channel: AnyChannel, ...steps: readonly (readonly Json[])[]): Json | undefined {
  const graph = graphOf(channel);
  let value: Json | undefined = graph.initial["k"];
  for (const writes of steps) value = updated(graph, "k", value, writes);
  return value;
}

const whole = (value: Json): Json => ({ $overwrite: value });
const user = (id: string, content: string) => ({ role: "user", id, content });

describe("a channel after the writes of its steps", () => {
  const cases: readonly [string, AnyChannel, readonly (readonly Json[])[], Json | undefined][] = [
    ["last: the value", last(), [[1], [2]], 2],
    ["last: an overwrite is a value", last(), [[whole(3)]], 3],
    ["last, concurrent: the last of a step", last({ concurrent: true }), [[1, 2]], 2],
    [
      "last, concurrent: an overwrite wins over later writes",
      last({ concurrent: true, default: 0 }),
      [[1, whole(9), 2]],
      9,
    ],
    ["append: entries and lists", append(), [["a", ["b", "c"]], ["d"]], ["a", "b", "c", "d"]],
    ["append: a first write without a default", append({ default: undefined }), [["a"]], ["a"]],
    ["append: on a first write that was no list", append({ default: undefined }), [["a"], ["b"]], ["a", "b"]],
    ["append: a default", append({ default: ["z"] }), [["a"]], ["z", "a"]],
    ["append: an overwrite drops the writes around it", append(), [["a"], ["b", whole(["x"]), "c"]], ["x"]],
    [
      "append: a first overwrite of an empty channel is a value",
      append({ default: undefined }),
      [[whole(["x"]), "c"]],
      ["x", "c"],
    ],
    ["sum", sum(), [[1, 2], [3]], 6],
    ["sum: a first write without a default", sum({ default: undefined }), [[5], [1]], 6],
    ["max", max(), [[1], [3, 2]], 3],
    ["min", min({ default: 2 }), [[3, 1]], 1],
    [
      "merge: one level deep, null keeps",
      merge(),
      [[{ a: 1, b: { c: 1 } }], [null, { b: { d: 1 } }]],
      { a: 1, b: { d: 1 } },
    ],
    [
      "union: equal entries once, first order",
      union(),
      [["b", { x: 1, y: 2 }], [["a", "b", { y: 2, x: 1 }]]],
      ["b", { x: 1, y: 2 }, "a"],
    ],
    [
      "byId: replaces in place, appends, drops",
      byId(),
      [[[{ id: "1" }, { id: "2", v: 1 }]], [{ id: "1", v: 2 }, { id: "2", $remove: true }, { id: "3" }]],
      [{ id: "1", v: 2 }, { id: "3" }],
    ],
    ["bounded: the newest", bounded(2), [["a", "b"], ["c"]], ["b", "c"]],
    [
      "messages: by id",
      messages(),
      [[[user("1", "a"), user("2", "b")]], [user("1", "c"), user("3", "d")]],
      [user("1", "c"), user("2", "b"), user("3", "d")],
    ],
    [
      "messages: removed, and put back in its place",
      messages(),
      [[[user("1", "a"), user("2", "b")]], [[removeMessage("1"), user("1", "c")], removeMessage("2")]],
      [user("1", "c")],
    ],
    [
      "messages: all removed, later ones stay",
      messages(),
      [[user("1", "a")], [[user("2", "b"), removeAllMessages(), user("3", "c")]]],
      [user("3", "c")],
    ],
    ["ephemeral", ephemeral(), [[1], [2]], 2],
    ["ephemeral, concurrent", ephemeral({ concurrent: true }), [[1, 2]], 2],
    ["any: the last", any(), [[1, 1]], 1],
    ["untracked", untracked(), [[1]], 1],
    ["untracked, concurrent", untracked({ concurrent: true }), [[1, 2]], 2],
    ["topic: the values of one step", topic(), [[1, [2, 3]], [4]], [4]],
    ["topic: nothing written is nothing held", topic(), [[[]]], undefined],
    ["topic, accumulated", topic({ accumulate: true }), [[1], [2, 2]], [1, 2, 2]],
    [
      "topic, unique: never twice",
      topic({ unique: true }),
      [
        [1, 2, 1],
        [2, 3],
      ],
      { values: [3], known: [1, 2, 3] },
    ],
    [
      "topic, unique and accumulated",
      topic({ unique: true, accumulate: true }),
      [
        [1, 2],
        [2, 3],
      ],
      { values: [1, 2, 3], known: [1, 2, 3] },
    ],
    ["custom: a first write alone", custom("r"), [[4]], 4],
    ["custom: an overwrite", custom("r", { default: 1 }), [[2, whole(7)]], 7],
  ];

  it.each(cases)("%s", (_what, channel, steps, expected) => {
    expect(after(channel, ...steps)).toEqual(expected);
  });

  const refused: readonly [string, AnyChannel, readonly (readonly Json[])[], string][] = [
    ["last: two writes", last(), [[1, 2]], 'channel "k" got 2 values in one step: [1,2]'],
    ["ephemeral: two writes", ephemeral(), [[1, 2]], "got 2 values"],
    ["untracked: two writes", untracked(), [[1, 2]], "got 2 values"],
    ["append: two overwrites", append(), [[whole([]), whole([])]], "got 2 overwrites in one step"],
    ["sum: a text", sum(), [["a"]], 'channel "k" got "a"; allowed is a number'],
    ["merge: a list", merge(), [[[1]]], "allowed is an object or null"],
    ["byId: no id", byId(), [[{ n: 1 }]], "allowed is an object with a text as id"],
    ["byId: no object", byId(), [[1]], "allowed is an object with a text as id"],
    ["messages: an unknown one removed", messages(), [[removeMessage("9")]], `can't remove message "9"`],
  ];

  it.each(refused)("refuses %s", (_what, channel, steps, message) => {
    expect(() => after(channel, ...steps)).toThrow(message);
  });
});

describe("a reducer that is code", () => {
  const graph = graphOf(custom("r"));
  const rule = graph.channels.get("k")!;

  it("is needed for every write but the first, and for none beside an overwrite", () => {
    expect(needsCode(rule, undefined, [1], "k")).toBe(false);
    expect(needsCode(rule, undefined, [1, 2], "k")).toBe(true);
    expect(needsCode(rule, 0, [1], "k")).toBe(true);
    expect(needsCode(rule, 0, [1, whole(2)], "k")).toBe(false);
    expect(needsCode({ reducer: "sum" }, 0, [1], "k")).toBe(false);
  });

  it("gives its recorded value", () => {
    expect(updated(graph, "k", 1, [2], 3)).toBe(3);
  });
});

describe("messages without an id", () => {
  it("get one from where they come from, and texts become messages of a user", () => {
    const makeId = (ordinal: number) => `id${ordinal}`;
    expect(
      stampMessages(
        ["hello", { role: "assistant", content: "hi", id: "own" }, { role: "tool", content: 1 }],
        makeId,
      ),
    ).toEqual([
      { role: "user", content: "hello", id: "id0" },
      { role: "assistant", content: "hi", id: "own" },
      { role: "tool", content: 1, id: "id2" },
    ]);
    expect(stampMessages(whole("hello"), makeId)).toEqual({
      $overwrite: { role: "user", content: "hello", id: "id0" },
    });
    expect(stampMessages(5, makeId)).toBe(5);
  });
});

describe("the state as code reads it", () => {
  it("shows the values of a unique topic, and nothing when there are none now", () => {
    const graph = graphOf(topic({ unique: true }));
    expect(view(graph, { k: { values: [1], known: [1, 2] } })).toEqual({ k: [1] });
    expect(view(graph, { k: { values: [], known: [1] } })).toEqual({});
    expect(view(graph, {})).toEqual({});
    expect(view(graph, { k: { values: [1], known: [1] } }, ["k", "other"])).toEqual({ k: [1] });
  });
});
