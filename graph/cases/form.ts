import { z } from "zod";

/**
 * The form of a conformance case: a graph, a script of calls on it, and what must come out. Everything is plain
 * data, so that one case can run on several engines; functions are named and live in a library beside the file.
 *
 * Tokens in values: `{ $command: { update, goto, graph: "PARENT", resume } }`, `{ $send: { node, arg } }`,
 * `{ $overwrite: value }`, `{ $removeMessage: id }`. `"START"` and `"END"` name the two ends of a graph.
 */

/** Names of nodes at which a run stops, or `"*"` for all of them. */
const breakpoints = z.union([z.literal("*"), z.array(z.string())]);

const channelForm = z.strictObject({
  type: z
    .enum(["last", "reduce", "builtIn", "topic", "ephemeral", "any", "untracked", "messages"])
    .optional()
    .describe("Kind of channel; `last` when left out."),
  reducer: z
    .string()
    .optional()
    .describe("Type `reduce`: a reducer in the function library; `builtIn`: a named one of the core."),
  limit: z.int().positive().optional().describe("Built-in `bounded`: how many entries are kept."),
  default: z
    .unknown()
    .optional()
    .describe("Value before the first write. Without one the first write is the value."),
  unique: z.boolean().optional().describe("Topic: equal values are kept once."),
  accumulate: z.boolean().optional().describe("Topic: values are kept over steps."),
  guard: z
    .boolean()
    .optional()
    .describe("Ephemeral and untracked: two writes in one step are an error (default)."),
});

const retryForm = z.strictObject({
  maxAttempts: z.int().positive().optional().describe("Attempts in total, the first included."),
  initialInterval: z.number().nonnegative().optional().describe("Milliseconds before the second attempt."),
  backoffFactor: z.number().positive().optional(),
  maxInterval: z.number().nonnegative().optional().describe("Milliseconds."),
  jitter: z.boolean().optional(),
  logWarning: z.boolean().optional(),
  retryOnName: z.string().optional().describe("Only errors of this name are tried again."),
});

const timeoutForm = z.union([
  z.number().positive(),
  z.strictObject({
    runTimeout: z.number().positive().optional().describe("Milliseconds an attempt may take."),
    idleTimeout: z.number().positive().optional().describe("Milliseconds without a sign of progress."),
    refreshOn: z.enum(["auto", "heartbeat"]).optional(),
  }),
]);

const functionForm = z.strictObject({
  fn: z.string(),
  args: z.record(z.string(), z.unknown()).optional(),
});

const nodeForm = z.strictObject({
  fn: z.string().optional().describe("Name of a node function in the library; not together with `graph`."),
  args: z.record(z.string(), z.unknown()).optional().describe("Arguments of the function's factory."),
  get graph() {
    return graphForm.optional().describe("A subgraph as the node.");
  },
  ends: z.array(z.string()).optional().describe("Nodes that a Command of this node may go to."),
  retry: retryForm.optional(),
  timeout: timeoutForm.optional(),
  cache: z.union([z.boolean(), z.strictObject({ ttl: z.number().optional() })]).optional(),
  defer: z.boolean().optional().describe("Runs when nothing else would."),
  input: z.array(z.string()).optional().describe("The only channels that the node sees."),
  onError: functionForm.optional().describe("Runs when the node has failed for good."),
});

const branchForm = z.strictObject({
  from: z.string(),
  fn: z.string().describe("Name of a route function in the library."),
  args: z.record(z.string(), z.unknown()).optional(),
  name: z.string().optional(),
  targets: z
    .union([z.array(z.string()), z.record(z.string(), z.string())])
    .optional()
    .describe("Nodes it may choose, as a list or by label."),
});

export interface GraphForm {
  channels: Record<string, z.infer<typeof channelForm>>;
  nodes: Record<string, NodeForm>;
  edges?: [string | string[], string][] | undefined;
  branches?: z.infer<typeof branchForm>[] | undefined;
  input?: string[] | undefined;
  output?: string[] | undefined;
  checkpointer?: boolean | undefined;
  interruptBefore?: "*" | string[] | undefined;
  interruptAfter?: "*" | string[] | undefined;
}

const graphForm: z.ZodType<GraphForm> = z.strictObject({
  channels: z.record(z.string(), channelForm),
  nodes: z.record(z.string(), nodeForm),
  edges: z
    .array(z.tuple([z.union([z.string(), z.array(z.string())]), z.string()]))
    .optional()
    .describe("`[from, to]`; a list as `from` waits for all of its nodes."),
  branches: z.array(branchForm).optional(),
  input: z.array(z.string()).optional().describe("Channels that the input may set; all when left out."),
  output: z.array(z.string()).optional().describe("Channels that the result shows; all when left out."),
  checkpointer: z
    .boolean()
    .optional()
    .describe("Memory of a subgraph: left out = per call, true = per thread, false = none."),
  interruptBefore: breakpoints.optional(),
  interruptAfter: breakpoints.optional(),
}) as z.ZodType<GraphForm>;

const threaded = { thread: z.string().optional().describe("Thread of the call; `t1` when left out.") };
const headed = {
  head: z.boolean().optional().describe("Addresses the thread's head although `at` chose a checkpoint."),
};
const running = {
  ...threaded,
  ...headed,
  recursionLimit: z.int().positive().optional(),
  context: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Run context: reaches the nodes and is not kept."),
  durability: z.enum(["sync", "async", "exit"]).optional(),
  maxConcurrency: z.int().positive().optional(),
  drain: z.boolean().optional().describe("Lets a node ask the run to stop at the next boundary."),
  interruptBefore: breakpoints.optional(),
  interruptAfter: breakpoints.optional(),
  stream: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("Collects the chunks of these modes."),
  subgraphs: z.boolean().optional(),
};

const updateForm = z.strictObject({ values: z.unknown(), asNode: z.string() });

const opForm = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("invoke"), input: z.unknown().optional(), ...running }),
  z.strictObject({ op: z.literal("continue"), ...running }).describe("Goes on without input."),
  z
    .strictObject({
      op: z.literal("resume"),
      value: z.unknown().optional(),
      byQuestion: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("Answers by the question that was asked."),
      update: z.unknown().optional(),
      goto: z.unknown().optional(),
      ...running,
    })
    .describe("Answers one open question, or several by their text."),
  z.strictObject({ op: z.literal("state"), ...threaded, ...headed, subgraphs: z.boolean().optional() }),
  z.strictObject({ op: z.literal("history"), ...threaded }),
  z.strictObject({
    op: z.literal("update"),
    values: z.unknown().optional(),
    asNode: z.string().optional(),
    keepHead: z.boolean().optional(),
    ...threaded,
    ...headed,
  }),
  z.strictObject({
    op: z.literal("updateSub"),
    node: z.string(),
    values: z.unknown().optional(),
    asNode: z.string().optional(),
    ...threaded,
    ...headed,
  }),
  z.strictObject({ op: z.literal("bulk"), supersteps: z.array(z.array(updateForm)), ...threaded, ...headed }),
  z
    .strictObject({
      op: z.literal("at"),
      step: z.int(),
      source: z.enum(["input", "loop", "update", "fork"]).optional(),
      oldest: z.boolean().optional().describe("The oldest that fits, not the newest."),
      ...threaded,
    })
    .describe("Chooses an earlier checkpoint for the next call."),
]);

/** A stated difference: at this place our engine gives `value` (or nothing, when it is left out), and why. */
const differenceForm = z.strictObject({
  step: z.int().nonnegative().describe("Index of the call in the script."),
  path: z
    .string()
    .describe("Place in the call's result, as in `tasks` or `history.0.next`; empty for all of it."),
  value: z.unknown().optional(),
  reason: z.string().optional(),
});

const outcomeForm = z.looseObject({
  steps: z.array(z.record(z.string(), z.unknown())),
  calls: z.record(z.string(), z.number()).optional(),
});

export const caseForm = z.looseObject({
  id: z.string().min(1),
  title: z.string().optional(),
  graph: graphForm,
  script: z.array(opForm).min(1),
  checkpointer: z.literal(false).optional().describe("`false` runs the graph without memory."),
  cache: z.boolean().optional().describe("Gives the graph a cache for nodes that ask for one."),
  ours: z.union([z.string(), z.array(differenceForm)]).optional(),
  expect: outcomeForm
    .optional()
    .describe("What the reference engine gave; also possible in a file of its own."),
});

export const expectationsForm = z.record(z.string(), outcomeForm);

export type ChannelForm = z.infer<typeof channelForm>;
export type RetryForm = z.infer<typeof retryForm>;
export type NodeForm = z.infer<typeof nodeForm>;
export type BranchForm = z.infer<typeof branchForm>;
export type OpForm = z.infer<typeof opForm>;
export type RunForm = Extract<OpForm, { op: "invoke" | "resume" | "continue" }>;
export type Difference = z.infer<typeof differenceForm>;
export type CaseForm = z.infer<typeof caseForm>;
export type Outcome = z.infer<typeof outcomeForm>;
