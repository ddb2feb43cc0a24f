import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  driftBetween,
  formatManifest,
  manifestHash,
  manifestOf,
  ofStories,
  parseManifest,
  withStories,
} from "../../../crash-lab/windows/manifest.js";
import {
  otherSide,
  parseWindowName,
  sides,
  WindowCounter,
  windowName,
  type Window,
} from "../../../crash-lab/windows/window-name.js";

const anyWindow: fc.Arbitrary<Window> = fc.record({
  story: fc.string({ minLength: 1 }),
  process: fc.string({ minLength: 1 }),
  tap: fc.string({ minLength: 1 }),
  label: fc.string({ minLength: 1 }),
  ordinal: fc.integer({ min: 1, max: 1_000_000 }),
  side: fc.constantFrom(...sides),
});

describe("window names", () => {
  test("any window survives being written and read", () => {
    fc.assert(
      fc.property(anyWindow, (window) => {
        expect(parseWindowName(windowName(window))).toEqual(window);
      }),
    );
  });

  test.each([
    ["a/b/c/d/1", "has 5 parts"],
    ["a/b/c/d/0/before", 'ordinal "0"'],
    ["a/b/c/d/1/during", 'side "during" must be one of before, after'],
    ["a//c/d/1/before", "process is empty"],
    ["a/b/c/%E0%A4%A/1/before", "label"],
  ])("%s is refused: %s", (name, message) => expect(() => parseWindowName(name)).toThrow(message));

  test("ordinals count within process, tap and label", () => {
    const counter = new WindowCounter("automatic");
    const post = { process: "worker", tap: "http", label: "POST /postings" };
    expect(counter.next(post, "before").ordinal).toBe(1);
    expect(counter.next({ ...post, process: "api" }, "before").ordinal).toBe(1);
    expect(counter.next({ ...post, tap: "ingress" }, "before").ordinal).toBe(1);
    const second = counter.next(post, "before");
    expect(second.ordinal).toBe(2);
    expect(otherSide(second)).toEqual({ ...second, side: "after" });
  });
});

describe("manifest", () => {
  const name = (label: string) => `automatic/worker/http/${encodeURIComponent(label)}/1/after`;
  const manifest = manifestOf(new Set([name("b"), name("a")]), new Set([name("a"), name("c")]));

  test("a window is stable when both golden runs had it", () => {
    expect(manifest).toEqual([
      { window: name("a"), stable: true },
      { window: name("b"), stable: false },
      { window: name("c"), stable: false },
    ]);
  });

  test("the hash is over the stable names alone", () => {
    expect(manifestHash(manifest)).toBe(manifestHash(manifestOf(new Set([name("a")]), new Set([name("a")]))));
    expect(manifestHash(manifest)).not.toBe(
      manifestHash(manifestOf(new Set([name("b")]), new Set([name("b")]))),
    );
  });

  test("drift names the event that appeared or went; one seen once only is a warning", () => {
    const before = manifestOf(new Set([name("a"), name("b")]), new Set([name("a"), name("b")]));
    const now = manifestOf(new Set([name("b"), name("c"), name("d")]), new Set([name("b"), name("c")]));
    expect(driftBetween(before, now)).toEqual({
      appeared: [name("c")],
      gone: [name("a")],
      warnings: [name("d")],
    });
    expect(driftBetween(now, now)).toMatchObject({ appeared: [], gone: [] });
  });

  test("it survives being written and read", () => {
    expect(parseManifest(formatManifest(manifest), "manifest.json")).toEqual(manifest);
    expect(parseManifest(formatManifest([]), "manifest.json")).toEqual([]);
  });

  test.each([
    ["{", "not JSON"],
    [JSON.stringify([{ window: name("a") }]), "0.stable"],
    [JSON.stringify([{ window: name("a"), stable: true, more: 1 }]), "more"],
    [JSON.stringify([{ window: "a/b", stable: true }]), "has 2 parts"],
    [JSON.stringify([name("b"), name("a")].map((window) => ({ window, stable: true }))), "out of order"],
    [JSON.stringify([name("a"), name("a")].map((window) => ({ window, stable: true }))), "stands twice"],
  ])("%s is refused: %s", (text, message) =>
    expect(() => parseManifest(text, "manifest.json")).toThrow(message),
  );
});

test("a story that wasn't played keeps its windows, and one that was has those that were seen", () => {
  const entry = (story: string, label: string) => ({
    window: windowName({ story, process: "worker", tap: "mail", label, ordinal: 1, side: "after" }),
    stable: true,
  });
  const committed = [entry("a", "old"), entry("b", "kept")];
  const merged = withStories(committed, [entry("a", "new")]);
  expect(merged).toEqual([entry("a", "new"), entry("b", "kept")]);
  expect(parseManifest(formatManifest(merged), "manifest.json")).toEqual(merged);
  expect(ofStories(committed, ["b"])).toEqual([entry("b", "kept")]);
});
