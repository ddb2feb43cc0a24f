import { applyChange } from "./change.js";
import type { Answer, Checkpoint, Result, TaskRecord } from "./checkpoint.js";
import type { Applying } from "./apply.js";
import type { CompiledGraph, CompiledNode, Program } from "./compile.js";
import { GraphError } from "./errors.js";
import type { Json } from "./json.js";
import { plan, type Task } from "./plan.js";
import { freshHead, removeBelow } from "./child.js";
import { prepare } from "./prepare.js";
import { findQuestion, openQuestions, questionId, type OpenQuestion } from "./questions.js";
import { resultOf } from "./result.js";
import { schemaProblem } from "./schema-check.js";
import { finish } from "./apply.js";
import { awaken, branchOf, enter, type CallSettings, type StartSettings } from "./verbs.js";
import { Working } from "./working.js";

/** What may be done to the state and the control flow from outside. */
export interface OutsideChange {
  readonly update?: Json;
  readonly goto?: Json;
}

/** Answers: by question id, or one value for the one question. */
export type Answering = { readonly answers: Readonly<Record<string, Json>> } | { readonly value: Json };

/**
 * Refuses an answer that can't be taken, before anything is recorded: a question that isn't open, an answer that
 * doesn't fit, one value for several questions.
 *
 * @throws GraphError `UnknownInterruptError`, or `GraphValueError` with code `INVALID_ANSWER`
 */
export function checkAnswers(program: Program, checkpoint: Checkpoint, answering: Answering): void {
  const open = openQuestions(program, checkpoint);
  for (const [id, answer] of Object.entries(answersById(program, checkpoint, open, answering))) {
    const found = open.find(({ asked }) => asked.id === id);
    const problem =
      found?.asked.schema === undefined
        ? undefined
        : schemaProblem(answer, found.asked.schema, `answer to "${id}"`);
    if (problem !== undefined) throw new GraphError("GraphValueError", problem, "INVALID_ANSWER");
  }
}

/** The answers by question, or by the task that is about to ask its first one. */
function answersById(
  program: Program,
  checkpoint: Checkpoint,
  open: readonly OpenQuestion[],
  answering: Answering,
): Readonly<Record<string, Json>> {
  if ("answers" in answering) {
    if (Object.keys(answering.answers).length === 0)
      throw new GraphError("UnknownInterruptError", "the answers name no question");
    return byTask(program, checkpoint, open, answering.answers);
  }
  if (answering.value === null)
    throw new GraphError("EmptyInputError", "null alone is no answer; to answer null, name the question");
  if (open.length > 1)
    throw new GraphError(
      "UnknownInterruptError",
      `${open.length} questions are open, so an answer must name its own: ${open.map(({ asked }) => asked.id).join(", ")}`,
    );
  if (open.length === 1) return { [open[0]!.asked.id]: answering.value };
  return { [onlyAskingNext(program, checkpoint)]: answering.value };
}

/** Answers to questions that the next tasks are going to ask are put under the ids of the tasks. */
function byTask(
  program: Program,
  checkpoint: Checkpoint,
  open: readonly OpenQuestion[],
  answers: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const isOpen = (id: string) => open.some(({ asked }) => asked.id === id);
  if (Object.keys(answers).every(isOpen)) return answers;
  const ahead = new Map(
    askingNext(program, checkpoint).map((task) => [questionId(task.id, task.answers.length), task.id]),
  );
  return Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => [
      isOpen(id) ? id : (ahead.get(id) ?? findQuestion(open, id).asked.id),
      answer,
    ]),
  );
}

/** The tasks that would run next and may ask. */
function askingNext(program: Program, checkpoint: Checkpoint): readonly Task[] {
  const next = plan(program, { ...checkpoint, frames: awakened(program, checkpoint), status: "running" });
  return next.filter((task) => program.graphs.get(task.path)!.nodes.get(task.node)?.manifest.interrupts);
}

/** The one task that would run next and may ask; its first question gets the value. */
function onlyAskingNext(program: Program, checkpoint: Checkpoint): string {
  const asking = askingNext(program, checkpoint);
  if (asking.length !== 1)
    throw new GraphError(
      "UnknownInterruptError",
      asking.length === 0
        ? "no question is open, and no task is next that may ask"
        : "no question is open, and several tasks are next that may ask",
    );
  return asking[0]!.id;
}

function awakened(program: Program, checkpoint: Checkpoint): Checkpoint["frames"] {
  return awaken(program, checkpoint, { requestId: "" }).finish({}).frames;
}

function answered(work: Working, open: OpenQuestion, answer: Answer): void {
  const frame = work.frame(open.namespace)!;
  const record = frame.pending[open.taskId]!;
  const { answers } = record as { readonly answers: readonly Answer[] };
  const nested = "nested" in record ? record.nested : undefined;
  const before = "nestedAnswers" in record ? record.nestedAnswers : undefined;
  const ready: TaskRecord = open.asked.nested
    ? { status: "ready", answers, nested: nested!, nestedAnswers: { ...before, [open.asked.id]: answer } }
    : { status: "ready", answers: [...answers, answer], ...(nested && { nested }) };
  work.record(open.namespace, open.taskId, ready);
}

/** Gives the first answer to a task that hasn't asked yet. */
function answerAhead(work: Working, program: Program, taskId: string, value: Json): void {
  for (const namespace of work.namespaces()) {
    const frame = work.frame(namespace)!;
    if (!prepare(program.graphs.get(frame.path)!, frame.head).some((task) => task.id === taskId)) continue;
    const record = frame.pending[taskId];
    const answers = record?.status === "ready" ? record.answers : [];
    work.record(namespace, taskId, { status: "ready", answers: [...answers, { value }] });
  }
}

/** What a change from outside comes to; unknown keys of the update are dropped, unknown nodes are errors. */
function changeResult(program: Program, change: OutsideChange, seed: string): Result {
  const { update, goto } = change;
  const command = { $command: { update: update ?? null, ...(goto !== undefined && { goto }) } };
  return resultOf(program.root, anyNode(program.root), command, seed, "the command");
}

/** A change from outside may write every key, as nodes may. */
function anyNode(graph: CompiledGraph): CompiledNode {
  return [...graph.nodes.values()].find((node) => node !== graph.start)!;
}

/**
 * Answers open questions and goes on. Tasks whose questions stay open don't run again. One plain value also answers
 * the first question of the one task that is about to ask, as after an update by hand.
 *
 * @throws GraphError `UnknownInterruptError`, `GraphValueError`, `InvalidUpdateError`
 */
export function resume(
  program: Program,
  checkpoint: Checkpoint,
  answering: Answering,
  call: CallSettings & { readonly change?: OutsideChange },
): Applying {
  checkAnswers(program, checkpoint, answering);
  const open = openQuestions(program, checkpoint);
  const answers = answersById(program, checkpoint, open, answering);
  const work = awaken(program, checkpoint, call);
  for (const [id, value] of Object.entries(answers)) {
    const found = open.find(({ asked }) => asked.id === id);
    if (found === undefined) answerAhead(work, program, id, value);
    else answered(work, found, { value });
  }
  if (call.change?.update !== undefined || call.change?.goto !== undefined) {
    const seed = branchOf(checkpoint, call.requestId);
    work.patch("", { change: { result: changeResult(program, call.change, seed) } });
    applyChange(work, "", { enters: false });
  }
  return enter(work);
}

/** Withdraws a question whose deadline has come: the task runs again and its call throws `DeadlineExceededError`. */
export function expireQuestion(program: Program, checkpoint: Checkpoint, questionId: string): Applying {
  const found = findQuestion(openQuestions(program, checkpoint), questionId);
  const work = new Working(program, checkpoint);
  answered(work, found, { expired: true });
  return finish(work);
}

/**
 * A command from outside: updates the state and chooses what runs, without running START. What was to run still runs.
 *
 * @throws GraphError `EmptyInputError` for a command that does nothing, `InvalidUpdateError`
 */
export function command(
  program: Program,
  last: Checkpoint | undefined,
  change: OutsideChange,
  call: StartSettings,
): Applying {
  if (change.update === undefined && change.goto === undefined)
    throw new GraphError("EmptyInputError", "the command neither updates nor goes anywhere");
  const base: Checkpoint = last ?? {
    format: 1,
    run: call.run,
    status: "running",
    recursionLimit: 1,
    interruptBefore: [],
    interruptAfter: [],
    resumable: call.resumable ?? program.root.manifest.resumable,
    frames: {
      "": {
        path: "",
        parent: null,
        branch: "",
        head: freshHead(program.root),
        stop: 0,
        status: "running",
        pending: {},
      },
    },
    inbox: [],
  };
  const work = awaken(program, { ...base, run: call.run }, call);
  const branch = branchOf(last, call.requestId);
  removeBelow(work, "", program.root, prepare(program.root, work.root().head));
  work.patch("", { change: { result: changeResult(program, change, branch), branch } });
  applyChange(work, "", { enters: true });
  return finish(work);
}
