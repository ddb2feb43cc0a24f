/** The graph engine's public entry: definitions, code, the pure interpreter and the runner for this process. */
export { defineGraph, defineDynamicGraph, object, context, GraphBuilder } from "./core/define.js";
export type { Graph, GraphDefinition, ObjectState, ContextType } from "./core/define.js";
export { implement } from "./core/implement.js";
export type { GraphCode, Implementation, NodeFailure, Store, TaskContext } from "./core/code.js";
export {
  START,
  END,
  PARENT,
  REMOVE_ALL,
  command,
  overwrite,
  removeAllMessages,
  removeMessage,
  replace,
  send,
  waitForEvent,
} from "./core/markers.js";
export type { Command, Destination, Overwrite, Replace, Send, Wait } from "./core/markers.js";
export {
  any,
  append,
  bounded,
  byId,
  custom,
  ephemeral,
  last,
  max,
  merge,
  messages,
  min,
  sum,
  topic,
  union,
  untracked,
} from "./core/state.js";
export type { Channel, ChannelRule, Channels, Message, MessageLike, Reducer } from "./core/state.js";
export { schema } from "./core/schema.js";
export type { JsonSchema, Schema, SchemaValue, StandardSchema } from "./core/schema.js";
export { GraphError } from "./core/errors.js";
export type { ErrorData, GraphErrorName } from "./core/errors.js";
export type { Duration } from "./core/durations.js";
export type { Json, JsonObject } from "./core/json.js";
export type { Manifest, Memory, NodeManifest } from "./core/manifest.js";
export type { DynamicTypes, GraphTypes, InputOf, OutputOf, StateOf, UpdateOf } from "./core/types.js";
export type { Question, Snapshot, TaskView, UnreleasedJoin, WaitView } from "./core/view.js";
export { manifestHash } from "./core/draft.js";
export { defaultRefusals, retryDelayMs } from "./core/policies.js";
export { GraphRegistry } from "./core/registry.js";
export { inspect } from "./core/inspect.js";
export type { ChannelView, GraphView, NodeView } from "./core/inspect.js";
export { nodeStates, toDot, toMermaid } from "./core/picture.js";
export type { NodeState, NodeStates } from "./core/picture.js";
export { compile } from "./core/compile.js";
export type { Program } from "./core/compile.js";
export { plan } from "./core/plan.js";
export type { Task } from "./core/plan.js";
export { apply } from "./core/apply.js";
export type { Applying, Outcome } from "./core/apply.js";
export { fork, proceed, requestDrain, start } from "./core/verbs.js";
export { checkAnswers, command as outsideCommand, expireQuestion, resume } from "./core/resume.js";
export { checkEvent, deliver, expireWait } from "./core/deliver.js";
export { AS_COPY, AS_INPUT, update } from "./core/edit.js";
export { snapshot } from "./core/snapshot.js";
export { execute } from "./core/execute.js";
export type { Checkpoint, RunStatus, TaskRecord } from "./core/checkpoint.js";
export type { StepEvent } from "./core/events.js";
export { createRunner } from "./local/runner.js";
export { createMemoryCheckpointer } from "./local/memory-checkpointer.js";
export { createMemoryStore } from "./local/memory-store.js";
export { toSvg } from "./local/svg.js";
export { createMemoryCache } from "./local/cache.js";
export type { Cache } from "./local/cache.js";
export type { Checkpointer, StoredCheckpoint } from "./local/checkpointer.js";
export type {
  Answers,
  CallOptions,
  OutsideCommand,
  Request,
  Runner,
  RunnerOptions,
  RunResult,
  StateUpdate,
  StreamChunk,
  StreamMode,
  StreamOptions,
  UpdateOptions,
} from "./local/types.js";
