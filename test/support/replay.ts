/**
 * Replays everything that a test started. A workflow that gives the right result and can't be replayed is broken all
 * the same: it fails at the first worker that has lost it from its cache.
 *
 * The rig follows histories by itself, into children and past continue-as-new. It doesn't trust that a test told it
 * of a workflow: a test that leads to none, and a run that has not ended, fail, unless the test says why.
 */
import type { Client, WorkflowHandle } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { Worker, type WorkflowBundle } from "@temporalio/worker";
import { afterEach, beforeEach, expect } from "vitest";

const { History: HistoryMessage } = temporal.api.history.v1;

export type History = temporal.api.history.v1.IHistory;

/**
 * Readable and complete. The SDK's own conversion needs one copy of protobufjs for all of its packages, which
 * installers don't promise.
 */
export function historyToJson(history: History): unknown {
  return HistoryMessage.toObject(history as temporal.api.history.v1.History, {
    longs: String,
    enums: String,
    bytes: String,
  });
}

export function historyFromJson(json: unknown): History {
  return HistoryMessage.fromObject(json as Record<string, unknown>);
}

export interface ReplayRig {
  /** Has the workflow, and all that comes from it, replayed after the test. Gives the handle back. */
  track<Handle extends Pick<WorkflowHandle, "workflowId" | "client">>(handle: Handle): Handle;
  /** The workflow may still run when the test ends. */
  leaveUnfinished(workflowId: string, reason: string): void;
  /** The test starts no workflow. */
  expectNone(reason: string): void;
}

/** More runs than any test starts; a chain that goes round would otherwise never end. */
const runsMax = 200;

/** Call once at the top of a test file. `client` and `bundle` are asked for after each test. */
export function replayAfterEach(client: () => Client, bundle: () => Promise<WorkflowBundle>): ReplayRig {
  let tracked: string[] = [];
  let unfinished = new Map<string, string>();
  let none: string | undefined;

  beforeEach(() => {
    tracked = [];
    unfinished = new Map();
    none = undefined;
  });

  afterEach(async () => {
    if (tracked.length === 0) {
      expect(none, "the test started no workflow and didn't say why").toBeDefined();
      return;
    }
    expect(none, "the test said that it starts no workflow").toBeUndefined();
    const runs = await collectRuns(client(), tracked);
    const open = runs.filter(({ history }) => !hasEnded(history)).map(({ workflowId }) => workflowId);
    expect(
      open.filter((id) => !unfinished.has(id)),
      "workflows that have not ended",
    ).toEqual([]);
    expect(
      [...unfinished.keys()].filter((id) => !open.includes(id)),
      "listed, but ended",
    ).toEqual([]);
    await replayAll(await bundle(), runs);
  });

  return {
    track: (handle) => {
      tracked.push(handle.workflowId);
      return handle;
    },
    leaveUnfinished: (workflowId, reason) => void unfinished.set(workflowId, reason),
    expectNone: (reason) => {
      none = reason;
    },
  };
}

export interface Run {
  readonly workflowId: string;
  readonly runId: string | undefined;
  readonly history: History;
}

/** The histories of these workflows, of their children and of the runs that they continued as. */
export async function collectRuns(client: Client, workflowIds: readonly string[]): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const next = workflowIds.map((workflowId) => ({ workflowId, runId: undefined as string | undefined }));
  const seen = new Set<string>();
  while (next.length > 0) {
    const { workflowId, runId } = next.shift()!;
    if (seen.has(`${workflowId}/${runId}`)) continue;
    seen.add(`${workflowId}/${runId}`);
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, runId, history });
    if (runs.length > runsMax) throw new Error(`A test led to more than ${runsMax} runs.`);
    for (const event of history.events ?? []) {
      const child = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
      if (child?.workflowId) next.push({ workflowId: child.workflowId, runId: child.runId ?? undefined });
      const newRunId = event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
      if (newRunId) next.push({ workflowId, runId: newRunId });
    }
  }
  return runs;
}

/** @throws Error naming the first workflow whose history the code doesn't reproduce */
export async function replayAll(bundle: WorkflowBundle, runs: readonly Run[]): Promise<void> {
  let replayed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: bundle }, runs)) {
    if (error)
      throw new Error(`The history of ${workflowId} can't be replayed: ${error.message}`, { cause: error });
    replayed += 1;
  }
  expect(replayed, "every history must have been replayed").toBe(runs.length);
}

function hasEnded({ events }: History): boolean {
  const last = events?.at(-1);
  return Boolean(
    last?.workflowExecutionCompletedEventAttributes ??
    last?.workflowExecutionFailedEventAttributes ??
    last?.workflowExecutionCanceledEventAttributes ??
    last?.workflowExecutionTerminatedEventAttributes ??
    last?.workflowExecutionTimedOutEventAttributes ??
    last?.workflowExecutionContinuedAsNewEventAttributes,
  );
}
