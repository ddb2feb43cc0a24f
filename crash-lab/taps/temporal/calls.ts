/**
 * Temporal's calls by what they mean at the boundary, and what of their messages names an event.
 */
import proto, { type temporal as messages } from "@temporalio/proto";
import type { DeliveredTask } from "../event.js";

const { temporal } = proto;
const api = temporal.api.workflowservice.v1;

export type CallKind =
  /** Asks for a task; the answer may deliver one. */
  | "poll"
  /** Answers a task that was delivered. */
  | "task-answer"
  /** Starts, signals, updates, cancels, …: what any process tells a workflow. */
  | "message"
  /** Says that an activity is alive. */
  | "heartbeat"
  /** Changes nothing that belongs to a run. */
  | "service";

const kinds: Readonly<Record<string, CallKind>> = {
  PollWorkflowTaskQueue: "poll",
  PollActivityTaskQueue: "poll",
  RespondWorkflowTaskCompleted: "task-answer",
  RespondWorkflowTaskFailed: "task-answer",
  RespondActivityTaskCompleted: "task-answer",
  RespondActivityTaskFailed: "task-answer",
  RespondActivityTaskCanceled: "task-answer",
  RecordActivityTaskHeartbeat: "heartbeat",
  RecordActivityTaskHeartbeatById: "heartbeat",
  // Nexus tasks belong to no run of this lab.
  PollNexusTaskQueue: "service",
  PollWorkflowExecutionUpdate: "service",
  QueryWorkflow: "service",
  RespondQueryTaskCompleted: "service",
  ResetStickyTaskQueue: "service",
  RecordWorkerHeartbeat: "service",
  ShutdownWorker: "service",
  Check: "service",
  Watch: "service",
};

/** Temporal's API guide gives calls that only read one of these verbs. */
const readingCall = /^(Get|List|Describe|Count|Scan|Fetch)(?=[A-Z])/;

/** Any call that isn't listed counts as a message, so a new call can't go unseen. */
export function kindOf(call: string): CallKind {
  return kinds[call] ?? (readingCall.test(call) ? "service" : "message");
}

/** The call's name in the request's path: `/temporal.api.workflowservice.v1.WorkflowService/PollActivityTaskQueue`. */
export function callOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What a request says about itself. */
export interface RequestFacts {
  readonly workflowId: string | null;
  readonly workflowType: string | null;
  /** Base64. */
  readonly taskToken: string | null;
  readonly identity: string;
  readonly activityId: string | null;
  /** Signal, update or query by name; types of a multi-operation. */
  readonly names: readonly string[];
  readonly commands: readonly string[];
}

/** Of a request that says nothing about itself. */
export const noFacts: RequestFacts = {
  workflowId: null,
  workflowType: null,
  taskToken: null,
  identity: "",
  activityId: null,
  names: [],
  commands: [],
};

/** Fields that requests have in common, whichever of them carries each. */
interface AnyRequest {
  readonly taskToken?: Uint8Array | null;
  readonly identity?: string | null;
  readonly workflowId?: string | null;
  readonly activityId?: string | null;
  readonly workflowType?: { readonly name?: string | null } | null;
  readonly workflowExecution?: { readonly workflowId?: string | null } | null;
  readonly signalName?: string | null;
  readonly request?: { readonly input?: { readonly name?: string | null } | null } | null;
  readonly commands?: readonly { readonly commandType?: number | null }[] | null;
  readonly operations?: readonly Record<string, AnyRequest | null>[] | null;
}

/** @param message the unpacked protobuf message; calls that this client library doesn't know give no facts. */
export function requestFacts(call: string, message: Buffer): RequestFacts {
  const type = (api as unknown as Record<string, { decode?: (bytes: Uint8Array) => unknown } | undefined>)[
    `${call}Request`
  ];
  if (type?.decode === undefined) return noFacts;
  return factsOf(type.decode(message) as AnyRequest);
}

function factsOf(request: AnyRequest): RequestFacts {
  const inner = (request.operations ?? []).flatMap((operation) =>
    Object.values(operation).flatMap((one) => (one === null ? [] : [factsOf(one)])),
  );
  return {
    workflowId:
      some(request.workflowId) ?? some(request.workflowExecution?.workflowId) ?? inner[0]?.workflowId ?? null,
    workflowType:
      some(request.workflowType?.name) ?? inner.find((one) => one.workflowType)?.workflowType ?? null,
    taskToken: request.taskToken?.length ? Buffer.from(request.taskToken).toString("base64") : null,
    identity: request.identity ?? "",
    activityId: some(request.activityId),
    names: [
      ...[request.signalName, request.request?.input?.name].flatMap((name) => some(name) ?? []),
      ...inner.flatMap(({ names }) => names),
    ],
    commands: (request.commands ?? []).map(({ commandType }) => commandName(commandType ?? 0)),
  };
}

const some = (text: string | null | undefined): string | null =>
  text === undefined || text === "" ? null : text;

const commandNames = new Map(
  Object.entries(temporal.api.enums.v1.CommandType)
    .filter(([, value]) => typeof value === "number")
    .map(([name, value]) => [value as number, camelCase(name.replace(/^COMMAND_TYPE_/, ""))]),
);

function camelCase(upper: string): string {
  return upper.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function commandName(type: number): string {
  return commandNames.get(type) ?? `Command${type}`;
}

/** Commands after which the run has nothing more to do. Continuing as new isn't one: the process goes on. */
const closingCommands: ReadonlySet<string> = new Set([
  "CompleteWorkflowExecution",
  "FailWorkflowExecution",
  "CancelWorkflowExecution",
]);

export function closesWorkflow(commands: readonly string[]): boolean {
  return commands.some((one) => closingCommands.has(one));
}

/** Several of a kind behind each other are counted, so that a wave of eight children has a readable name. */
export function commandsLabel(commands: readonly string[]): string {
  if (commands.length === 0) return "none";
  const groups: { name: string; count: number }[] = [];
  for (const name of commands) {
    const last = groups.at(-1);
    if (last?.name === name) last.count += 1;
    else groups.push({ name, count: 1 });
  }
  return groups.map(({ name, count }) => (count === 1 ? name : `${name}x${count}`)).join("+");
}

/** The tasks that an answer hands out. */
export function deliveredTasks(call: string, message: Buffer, identity: string): DeliveredTask[] {
  switch (call) {
    case "PollWorkflowTaskQueue":
      return workflowTask(api.PollWorkflowTaskQueueResponse.decode(message), identity);
    case "PollActivityTaskQueue":
      return activityTask(api.PollActivityTaskQueueResponse.decode(message), identity, false);
    case "RespondWorkflowTaskCompleted": {
      const answer = api.RespondWorkflowTaskCompletedResponse.decode(message);
      return [
        ...(answer.workflowTask ? workflowTask(answer.workflowTask, identity) : []),
        ...(answer.activityTasks ?? []).flatMap((task) => activityTask(task, identity, true)),
      ];
    }
    case "StartWorkflowExecution": {
      const task = api.StartWorkflowExecutionResponse.decode(message).eagerWorkflowTask;
      return task ? workflowTask(task, identity) : [];
    }
    default:
      return [];
  }
}

type WorkflowTask = messages.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;
type ActivityTask = messages.api.workflowservice.v1.IPollActivityTaskQueueResponse;

function workflowTask(task: WorkflowTask, identity: string): DeliveredTask[] {
  if (!task.taskToken?.length) return [];
  return [
    {
      kind: "workflow-task",
      taskToken: Buffer.from(task.taskToken).toString("base64"),
      workflowId: task.workflowExecution?.workflowId ?? "",
      runId: task.workflowExecution?.runId ?? "",
      workflowType: task.workflowType?.name ?? "",
      activityType: null,
      activityId: null,
      attempt: task.attempt ?? 1,
      identity,
      eager: false,
    },
  ];
}

function activityTask(task: ActivityTask, identity: string, eager: boolean): DeliveredTask[] {
  if (!task.taskToken?.length) return [];
  return [
    {
      kind: "activity-task",
      taskToken: Buffer.from(task.taskToken).toString("base64"),
      workflowId: task.workflowExecution?.workflowId ?? "",
      runId: task.workflowExecution?.runId ?? "",
      workflowType: task.workflowType?.name ?? "",
      activityType: task.activityType?.name ?? "",
      activityId: task.activityId ?? "",
      attempt: task.attempt ?? 1,
      identity,
      eager,
    },
  ];
}

/** A delivery that only carries a question about the workflow, not work on it. */
export function isQueryDelivery(call: string, message: Buffer): boolean {
  if (call !== "PollWorkflowTaskQueue") return false;
  const answer = api.PollWorkflowTaskQueueResponse.decode(message);
  return answer.query !== null && answer.query !== undefined;
}
