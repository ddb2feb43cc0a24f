/** What Temporal knows of a process: how its last run ended, and what it was started with. */
import { WorkflowFailedError, WorkflowNotFoundError, type Client } from "@temporalio/client";
import {
  ApplicationFailure,
  arrayFromPayloads,
  CancelledFailure,
  defaultPayloadConverter,
  TerminatedFailure,
} from "@temporalio/common";

import type { ProcessStart } from "../../activities/invoice-approval/steps.js";
import type { JsonValue } from "../../activities/operation/json.js";
import type { ProcessDirectory, Standing } from "../../activities/sweeps/ports.js";

export function createProcessDirectory(client: Client): ProcessDirectory {
  return { look: (workflowId) => look(client, workflowId) };
}

/** What the last run under the id is now, and every call asks about that run, whatever is started meanwhile. */
async function look(client: Client, workflowId: string): Promise<Standing> {
  try {
    const { runId, status } = await client.workflow.getHandle(workflowId).describe();
    const start = await startOf(client, workflowId, runId);
    if (status.name === "RUNNING") return { standing: "running", ...start };
    return { standing: "ended", status: status.name, ...start, ...(await endOf(client, workflowId, runId)) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { standing: "unknown" };
    throw error;
  }
}

/** From the run's first event, which is all that is read. */
async function startOf(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<{ readonly start?: ProcessStart }> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (!started?.workflowType?.name || !started.taskQueue?.name) return {};
  const args = arrayFromPayloads(defaultPayloadConverter, started.input?.payloads ?? []);
  const { seconds, nanos } = started.workflowTaskTimeout ?? {};
  return {
    start: {
      workflowId,
      workflowType: started.workflowType.name,
      taskQueue: started.taskQueue.name,
      args: args as readonly JsonValue[],
      workflowTaskTimeoutMs: Number(seconds ?? 0) * 1_000 + Math.round((nanos ?? 0) / 1_000_000),
      searchAttributes: keywordsIn(started.searchAttributes?.indexedFields ?? {}),
    },
  };
}

type IndexedFields = Readonly<Record<string, Parameters<typeof defaultPayloadConverter.fromPayload>[0]>>;

/** What a process is found by. A deadline is no keyword, and belongs to the run that has ended. */
function keywordsIn(fields: IndexedFields): Readonly<Record<string, string>> {
  const values = Object.entries(fields).map(
    ([name, payload]) => [name, defaultPayloadConverter.fromPayload<unknown>(payload)] as const,
  );
  return Object.fromEntries(
    values.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

async function endOf(client: Client, workflowId: string, runId: string) {
  // Without following: a run that continued as new has a later one, which `describe` would have given.
  const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
  try {
    return { result: (await handle.result()) as JsonValue };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { failure: failureIn(error) };
  }
}

function failureIn({ cause, message }: WorkflowFailedError): { type: string; message: string } {
  if (cause instanceof ApplicationFailure) {
    return { type: cause.type ?? "ApplicationFailure", message: cause.message };
  }
  if (cause instanceof CancelledFailure) return { type: "Cancelled", message: cause.message };
  if (cause instanceof TerminatedFailure) return { type: "Terminated", message: cause.message };
  return { type: cause?.name ?? "Failed", message: cause?.message ?? message };
}
