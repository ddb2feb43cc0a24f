import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runGraphCases } from "../../../cli/graph-cases.js";

const folder = fileURLToPath(new URL(".", import.meta.url));

async function run(...argv: string[]): Promise<{ code: number; out: string; error: string }> {
  const written = { out: "", error: "" };
  const code = await runGraphCases(argv, {
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.error += text) },
  });
  return { code, ...written };
}

describe("the conformance cases", () => {
  it("hold on our engine, with the stated differences and no others", async () => {
    const { code, out } = await run(folder, "--engine", "core");
    expect(out).toContain(
      "190 cases on core against expected: 160 equal, 30 with stated differences only, 0 with others",
    );
    expect(out).toContain("A node whose question is still open has nothing new to do");
    expect(code).toBe(0);
  }, 120_000);

  it("hold on LangGraph.js, which they were measured on", async () => {
    const { code, out } = await run(folder, "--engine", "langgraph");
    expect(out).toBe(
      "190 cases on langgraph against expected: 190 equal, 0 with stated differences only, 0 with others\n",
    );
    expect(code).toBe(0);
  }, 120_000);
});

describe("graph:cases", () => {
  let place: string;
  const file = () => path.join(place, "mine.cases.mjs");
  const chain = (total: number) => ({
    id: "chain",
    graph: {
      channels: { total: { type: "last" } },
      nodes: { a: { fn: "put", args: { update: { total } } } },
      edges: [["START", "a"]],
    },
    script: [{ op: "invoke", input: { total: 0 } }],
  });
  const results = (total: number) => ({
    chain: { steps: [{ out: { total }, ran: { a: 1 } }], calls: { a: 1 } },
  });
  const give = async (cases: unknown) => {
    await writeFile(file(), `export const cases = ${JSON.stringify(cases)};\n`);
    await writeFile(path.join(place, "fns.mjs"), await readFile(path.join(folder, "fns.mjs")));
  };
  const expectations = (name: string, content: unknown) =>
    writeFile(path.join(place, name), JSON.stringify(content));

  beforeEach(async () => {
    place = await mkdtemp(path.join(tmpdir(), "graph-cases-"));
  });
  afterEach(() => rm(place, { recursive: true }));

  it("takes the results beside the file and says where ours differ", async () => {
    await give([chain(4)]);
    await expectations("results-mine.json", results(5));
    const { code, out } = await run(file(), "--engine", "core");
    expect(code).toBe(1);
    expect(out).toMatch(/chain +1 invoke +out\.total +5 +4 +DIFFERS/);
  });

  it("takes the results that are named, and writes everything as JSON", async () => {
    await give([chain(4)]);
    await expectations("results-mine.json", results(5));
    await expectations("other.json", results(4));
    const json = path.join(place, "out.json");
    const { code } = await run(
      file(),
      "--engine",
      "core",
      "--expect",
      path.join(place, "other.json"),
      "--json",
      json,
    );
    expect(code).toBe(0);
    expect(JSON.parse(await readFile(json, "utf8"))).toEqual({ chain: { ...results(4).chain, diffs: [] } });
  });

  it("runs both engines when nothing is expected", async () => {
    await give([chain(4)]);
    const { code, out } = await run(file(), "--engine", "core");
    expect(out).toContain("1 cases on core against langgraph: 1 equal");
    expect(code).toBe(0);
  });

  it("accepts a stated difference only when it is as stated", async () => {
    const ours = (value: number) => [{ step: 0, path: "out.total", value, reason: "four is enough" }];
    await expectations("results-mine.json", results(5));
    await give([{ ...chain(4), ours: ours(4) }]);
    const asStated = await run(file(), "--engine", "core");
    expect(asStated.out).toMatch(/out\.total +5 +4 +stated +four is enough/);
    expect(asStated.code).toBe(0);
  });

  it("refuses a stated difference that doesn't show, even when the reference's value does", async () => {
    await expectations("results-mine.json", results(5));
    await give([{ ...chain(5), ours: [{ step: 0, path: "out.total", value: 4, reason: "four is enough" }] }]);
    const missing = await run(file(), "--engine", "core");
    expect(missing.out).toMatch(/out\.total +4 +5 +DIFFERS +four is enough/);
    expect(missing.code).toBe(1);
  });

  it("runs only the cases that are named", async () => {
    await give([chain(4), { ...chain(5), id: "other" }]);
    const { out } = await run(file(), "--engine", "core", "other");
    expect(out).toContain("1 cases on core");
  });

  it.each([
    [["--engine", "spark"], /--engine "spark": must be core or langgraph/],
    [["unknown"], /no case "unknown"; there are chain/],
    [["--expect", "absent.json"], /absent\.json: can't be read as JSON/],
    [["--colour"], /Unknown option '--colour'/],
  ])("refuses %j", async (more, message) => {
    await give([chain(4)]);
    const { code, error, out } = await run(file(), ...more);
    expect(error).toMatch(message);
    expect(out).toBe("");
    expect(code).toBe(2);
  });

  it.each([
    [{ ...chain(4), script: [{ op: "jump" }] }, /case chain: script\.0\.op/],
    [{ ...chain(4), script: [] }, /case chain: script: /],
    [{ ...chain(4), id: 7 }, /case number 1: id/],
    [
      { ...chain(4), graph: { ...chain(4).graph, nodes: { a: { fn: "fly" } } } },
      /node "a": no function "fly" in nodeFns; there are act,/,
    ],
    [
      { ...chain(4), graph: { ...chain(4).graph, channels: { total: { type: "builtIn", reducer: "avg" } } } },
      /channel "total": no built-in reducer "avg"; there are append,/,
    ],
  ])("names what is wrong in a case (%#)", async (wrong, message) => {
    await give([wrong]);
    const { code, error } = await run(file(), "--engine", "core");
    expect(error).toMatch(message);
    expect(code).toBe(2);
  });

  it("names a file that isn't there, and a file without its functions", async () => {
    expect((await run(file(), "--engine", "core")).error).toContain("mine.cases.mjs: there is no such file");
    await writeFile(file(), `export const cases = ${JSON.stringify([chain(4)])};`);
    expect((await run(file(), "--engine", "core")).error).toContain("fns.mjs: there is no such file");
  });

  it("leaves out what no engine knows, and says so", async () => {
    const strange = {
      ...chain(4),
      graph: { ...chain(4).graph, nodes: { a: { ...chain(4).graph.nodes.a, colour: 1 } } },
    };
    await give([strange]);
    const { code, error } = await run(file(), "--engine", "core");
    expect(error).toContain("case chain: graph.nodes.a.colour is not known to any engine and was left out");
    expect(code).toBe(0);
  });

  it("takes a difference that is only put into words, and shows the words", async () => {
    await give([{ ...chain(4), ours: "four is enough" }]);
    await expectations("results-mine.json", results(5));
    const { code, out } = await run(file(), "--engine", "core");
    expect(out).toMatch(/out\.total +5 +4 +stated +four is enough/);
    expect(code).toBe(0);
  });
});
