/** Sends the outbox's messages for workflows. */
import {
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
} from "@temporalio/client";
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/common";

import type { Claimed, Delivery, Sender, WorkflowMessageKind } from "../ledger/outbox/delivery.js";

export interface WorkflowSenderOptions {
  readonly client: Client;
  /** Must be well below the outbox's lease; past it the call counts as unanswered. In milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Each kind's second sending is harmless: a started workflow isn't started again, also not after its end, and a
 * signal is a hint.
 */
export function createWorkflowSender({
  client,
  timeoutMs,
}: WorkflowSenderOptions): Sender<WorkflowMessageKind> {
  return async (claimed) => {
    try {
      return await client.withDeadline(Date.now() + timeoutMs, () => send(client, claimed));
    } catch (error) {
      return deliveryAfterFailure(error);
    }
  };
}

async function send(client: Client, { message }: Claimed<WorkflowMessageKind>): Promise<Delivery> {
  switch (message.kind) {
    case "start": {
      const handle = await client.workflow.start(message.workflowType, {
        ...startOptions(message),
        // The default would run a finished process again when its start is sent a second time.
        workflowIdReusePolicy:
          message.again === true
            ? WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
            : WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      });
      return { delivery: "sent", outcome: { runId: handle.firstExecutionRunId } };
    }
    case "signal":
      await client.workflow.getHandle(message.workflowId).signal(message.signal, ...message.args);
      return { delivery: "sent", outcome: {} };
    case "signalWithStart": {
      const handle = await client.workflow.signalWithStart(message.workflowType, {
        ...startOptions(message),
        signal: message.signal,
        signalArgs: [...message.signalArgs],
      });
      return { delivery: "sent", outcome: { runId: handle.signaledRunId } };
    }
  }
}

function startOptions(
  message: Extract<Claimed<WorkflowMessageKind>["message"], { kind: "start" | "signalWithStart" }>,
) {
  const { workflowId, taskQueue, args, searchAttributes, workflowTaskTimeoutMs } = message;
  const pairs = Object.entries(searchAttributes ?? {}).map(([name, value]) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  }));
  return {
    workflowId,
    taskQueue,
    args: [...args],
    ...(workflowTaskTimeoutMs === undefined ? {} : { workflowTaskTimeout: workflowTaskTimeoutMs }),
    ...(pairs.length === 0 ? {} : { typedSearchAttributes: new TypedSearchAttributes(pairs) }),
  };
}

/** gRPC's number for a request that the server will refuse each time. */
const invalidArgument = 3;

/** What a failed call means for its message. Anything not listed may have arrived, and is sent again. */
export function deliveryAfterFailure(error: unknown): Delivery {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { delivery: "sent", outcome: { alreadyStarted: true } };
  }
  if (error instanceof WorkflowNotFoundError) {
    return {
      delivery: "failed",
      reason: "the workflow is closed or was never started",
      outcome: { workflowId: error.workflowId },
      needsPerson: false,
    };
  }
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (isGrpcServiceError(cause) && Number(cause.code) === invalidArgument) {
    return { delivery: "failed", reason: cause.details, outcome: { code: cause.code }, needsPerson: true };
  }
  return { delivery: "again", error: cause instanceof Error ? cause.message : String(cause) };
}
