import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CaseEngine } from "../../../graph/cases/engine.js";
import { coreEngine } from "../../../graph/cases/engines/core.js";
import { runCases } from "../../../graph/cases/run.js";
import { loadBareCore, type BareCore } from "./bare-core.js";

const bare = vi.hoisted(() => ({ core: undefined as BareCore | undefined }));

/** Sends every exported function of a module that takes a program into the bare context. */
const inBareContext = vi.hoisted(() => async (original: () => Promise<object>, names: readonly string[]) => {
  const module = (await original()) as Record<string, unknown>;
  const replaced = names.map((name) => {
    if (typeof module[name] !== "function") throw new Error(`the core has no function ${name}`);
    return [name, (program: never, ...args: unknown[]) => bare.core!.call(name, program, args)];
  });
  return { ...module, ...Object.fromEntries(replaced) };
});

vi.mock(import("../../../graph/core/plan.js"), (original) => inBareContext(original, ["plan"]) as never);
vi.mock(import("../../../graph/core/apply.js"), (original) => inBareContext(original, ["apply"]) as never);
vi.mock(
  import("../../../graph/core/verbs.js"),
  (original) => inBareContext(original, ["start", "proceed", "fork"]) as never,
);
vi.mock(
  import("../../../graph/core/resume.js"),
  (original) => inBareContext(original, ["resume", "command"]) as never,
);
vi.mock(import("../../../graph/core/edit.js"), (original) => inBareContext(original, ["update"]) as never);

const cases = fileURLToPath(new URL("../cases/", import.meta.url));
const neverCalled: CaseEngine = {
  name: "none",
  open: () => Promise.reject(new Error("every case has its expectation")),
  describe: () => ({ name: "", message: "" }),
};
const runAll = () => runCases({ file: cases, engine: coreEngine, reference: neverCalled, ours: true });

describe("the core in a bare context", () => {
  beforeEach(async () => {
    bare.core = await loadBareCore();
  });

  it("has nothing there but the language", () => {
    const { globals } = bare.core!;
    for (const name of [
      "structuredClone",
      "TextEncoder",
      "crypto",
      "setTimeout",
      "queueMicrotask",
      "process",
      "Date",
    ]) {
      expect(globals, name).not.toContain(name);
    }
  });

  it("gives every case its result on frozen input that came as JSON, with the same bytes each time", async () => {
    const { table, agrees } = await runAll();
    expect(agrees, table).toBe(true);
    const names = new Set(bare.core!.calls.map(({ name }) => name));
    expect([...names].sort()).toEqual([
      "apply",
      "command",
      "fork",
      "plan",
      "proceed",
      "resume",
      "start",
      "update",
    ]);
    expect(bare.core!.calls.length).toBeGreaterThan(1000);
  }, 120_000);

  it("makes the same ids on every run", async () => {
    const first = await idsOf(runAll);
    const second = await idsOf(runAll);
    expect(second).toEqual(first);
    expect(first.length).toBeGreaterThan(300);
  }, 120_000);

  /** All ids that the calls made, each once. */
  async function idsOf(run: () => Promise<unknown>): Promise<string[]> {
    bare.core!.calls.length = 0;
    await run();
    const ids = bare.core!.calls.flatMap(({ text }) => text.match(/\b[0-9a-f]{32}\b/g) ?? []);
    return [...new Set(ids)].sort();
  }
});
