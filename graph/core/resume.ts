import type { Answer, Head, TaskRecord } from "./checkpoint.js";
import type { Checkpoint } from "./checkpoint.js";
import type { Applying } from "./apply.js";
import type { Program } from "./compile.js";
import { needsCode } from "./channels.js";
import { GraphError } from "./errors.js";
import type { Json } from "./json.js";
import { plan, type Task } from "./plan.js";
import { freshHead, removeBelow, withoutUntracked } from "./child.js";
import { nextHead } from "./move.js";
import { prepare } from "./prepare.js";
import { findQuestion, openQuestions, questionId, type OpenQuestion } from "./questions.js";
import { resultOf } from "./result.js";
import { schemaProblem } from "./schema-check.js";
import { finish } from "./apply.js";
import { awaken, branchOf, enter, type CallSettings, type StartSettings } from "./verbs.js";
import { groupWrites, write, type Body } from "./write.js";
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

/** The body after a change from outside; the step doesn't count, so what was to run still is. */
function changed(
  program: Program,
  head: Head,
  change: OutsideChange,
  seed: string,
): { body: Body; written: string[] } {
  const graph = program.root;
  const command = {
    $command: { update: change.update ?? null, ...(change.goto !== undefined && { goto: change.goto }) },
  };
  const node = [...graph.nodes.values()].find((candidate) => candidate !== graph.start)!;
  const result = resultOf(graph, node, command, seed, "the command");
  const applied = [{ node: undefined, triggers: [], result, fires: false }];
  for (const [key, writes] of groupWrites(applied))
    if (needsCode(graph.channels.get(key)!, head.values[key], writes, key))
      throw new GraphError(
        "InvalidUpdateError",
        `a command from outside can't write "${key}", whose reducer is code; use an update as a node`,
      );
  const { body, written } = write(graph, head, applied, { counts: false, reduced: new Map() });
  return { body, written: [...written] };
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
    const root = work.root();
    const { body } = changed(program, root.head, call.change, branchOf(checkpoint, call.requestId));
    work.patch("", { head: { ...root.head, ...body, passed: body.version } });
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
  const root = work.root();
  const branch = branchOf(last, call.requestId);
  const head = { ...root.head, values: withoutUntracked(program.root, root.head.values) };
  removeBelow(work, "", program.root, prepare(program.root, root.head));
  const { body } = changed(program, head, change, branch);
  const next = nextHead(work, root, { body, written: [], source: "input", branch });
  work.set("", { ...root, branch, head: { ...next, passed: body.version }, pending: {} });
  work.committed("", []);
  return enter(work);
}
