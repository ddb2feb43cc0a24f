import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundle } from "@temporalio/worker";
import { defaultPayloadConverter } from "@temporalio/common";
import { beforeAll, expect, test } from "vitest";
import type { InvoiceBatchResult } from "../../../workflows/invoice-approval/messages.js";
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
  // It takes two seconds on a machine that does nothing else.
}, 60_000);

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

/** How the invoices of each story ended; a history that ends otherwise would stand for nothing. */
const ends: Readonly<Record<string, readonly string[]>> = {
  "0.1.0-automatic.json": ["posted", "rejected"],
  "0.1.0-approved.json": ["posted"],
  "0.1.0-rejected.json": ["rejected"],
  "0.1.0-expired.json": ["expired"],
  "0.1.0-duplicate.json": ["posted", "duplicate"],
  "0.1.0-repaired.json": ["failed-visibly", "posted"],
  "0.1.0-parked.json": ["posted"],
};

test("the histories of the first version are kept, one for each way to end", () => {
  expect(files).toEqual(expect.arrayContaining(Object.keys(ends)));
});

test.each(Object.entries(ends))("%s holds what it is named for", async (file, expected) => {
  const batches = (await recorded(file)).filter(({ workflowId }) => workflowId.startsWith("invoice-batch:"));
  const outcomes = batches.flatMap(({ history }) => {
    const completed = history.events!.at(-1)!.workflowExecutionCompletedEventAttributes!;
    const { outcomes: ended } = defaultPayloadConverter.fromPayload<InvoiceBatchResult>(
      completed.result!.payloads![0]!,
    );
    return ended.map(({ outcome }) => outcome);
  });
  expect(outcomes).toEqual(expected);
});

test.each(files)("%s: processes that were open under it go on under this version", async (file) => {
  const runs = await recorded(file);
  expect(runs.length).toBeGreaterThan(1);
  await replayAll(await workflowBundle(), runs);
});

test.each(files)(
  "%s: two steps the other way round break the replay of each invoice, and of nothing else",
  async (file) => {
    const verdicts: [string, string | undefined][] = [];
    const runs = await recorded(file);
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: swapped }, runs)) {
      verdicts.push([workflowId, error?.name]);
    }
    expect(verdicts.sort()).toEqual(
      runs
        .map(({ workflowId }) => [
          workflowId,
          workflowId.startsWith("invoice:") ? "DeterminismViolationError" : undefined,
        ])
        .sort(),
    );
  },
);
