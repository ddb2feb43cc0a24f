import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundle } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import { historyFromJson, replayAll, type Run } from "../../support/replay.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

// What replays on purpose to a failure would fill the screen.
const logger = new DefaultLogger("ERROR", () => undefined);
Runtime.install({ logger });

const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(".json"));
let swapped: WorkflowBundle;

beforeAll(async () => {
  const workflowsPath = path.join(import.meta.dirname, "swapped-workflows.ts");
  swapped = await bundleWorkflowCode({ workflowsPath, logger });
});

async function recorded(file: string): Promise<readonly Run[]> {
  const runs = JSON.parse(await readFile(path.join(import.meta.dirname, file), "utf8")) as {
    workflowId: string;
    history: unknown;
  }[];
  return runs.map(({ workflowId, history }) => ({
    workflowId,
    runId: undefined,
    history: historyFromJson(history),
  }));
}

test("the histories of the first version are kept", () => {
  expect(files).toEqual(expect.arrayContaining(["0.1.0-automatic.json", "0.1.0-approved.json"]));
});

test.each(files)("%s: processes that were open under it go on under this version", async (file) => {
  const runs = await recorded(file);
  expect(runs.length).toBeGreaterThan(1);
  await replayAll(await workflowBundle(), runs);
});

test("two steps the other way round break the replay of each invoice, and of nothing else", async () => {
  const verdicts: [string, string | undefined][] = [];
  const runs = await recorded("0.1.0-automatic.json");
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: swapped }, runs)) {
    verdicts.push([workflowId, error?.name]);
  }
  expect(verdicts.sort()).toEqual([
    ["invoice-batch:golden-batch", undefined],
    ["invoice:golden-office", "DeterminismViolationError"],
    ["invoice:golden-vat", "DeterminismViolationError"],
  ]);
});
