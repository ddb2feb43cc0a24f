import { differencesAt } from "../../../graph/cases/compare.js";
import type { CaseEngine, Session, StateView } from "../../../graph/cases/engine.js";
import type { CaseForm, GraphForm, OpForm } from "../../../graph/cases/form.js";
import type { FunctionLibrary } from "../../../graph/cases/functions.js";
import { ScriptPlayer } from "../../../graph/cases/play.js";
import type { Blueprint } from "./blueprint.js";
import { drawCase } from "./draw.js";

export interface Disagreement {
  /** Index of the call in the script. */
  readonly step: number;
  readonly path: string;
  /** What our engine gave. */
  readonly core: unknown;
  readonly reference: unknown;
}

export interface PlayedBoth {
  /** The drawn graph with the script that was played: a case that the case runner takes. */
  readonly subject: CaseForm;
  /** Node calls on our engine. */
  readonly tasks: number;
  /** What the run went through, for the statistics. */
  readonly features: ReadonlySet<string>;
  readonly disagreement: Disagreement | undefined;
}

/** Calls of one script at most; a loop that asks in every round would otherwise go on while its log is short. */
const callsMax = 20;

/**
 * Draws a graph and plays it on both engines call by call, comparing after each. What is called next depends on what
 * our engine shows: open questions are answered, failures and breakpoints gone on from.
 */
export async function playBoth(
  blueprint: Blueprint,
  engines: { core: CaseEngine; reference: CaseEngine },
  functions: FunctionLibrary,
): Promise<PlayedBoth> {
  const { input, recursionLimit, ...drawn } = drawCase(blueprint);
  const script: OpForm[] = [];
  const subject = { ...drawn, script } as CaseForm;
  const [core, reference] = await Promise.all([
    openOrRefuse(engines.core, subject, functions),
    openOrRefuse(engines.reference, subject, functions),
  ]);
  if ("refusal" in core || "refusal" in reference) {
    const refusals = [core, reference].map((one) => ("refusal" in one ? one.refusal.message : "built"));
    const agreed = "refusal" in core && "refusal" in reference;
    script.push({ op: "invoke", input });
    const disagreement = agreed
      ? undefined
      : { step: 0, path: "compile", core: refusals[0], reference: refusals[1] };
    return { subject, tasks: 0, features: new Set(["refused"]), disagreement };
  }
  const play = new Play({ ...blueprint, recursionLimit }, engines, core, reference, subject);
  const disagreement = await play.run(input);
  const tasks = Object.values(core.recorder.calls).reduce((sum, calls) => sum + calls, 0);
  return { subject, tasks, features: play.features, disagreement };
}

async function openOrRefuse(
  engine: CaseEngine,
  subject: CaseForm,
  functions: FunctionLibrary,
): Promise<Session | { refusal: Error }> {
  try {
    return await engine.open(subject, functions);
  } catch (error) {
    return { refusal: error as Error };
  }
}

type StepResult = Record<string, unknown>;

class Play {
  readonly features = new Set<string>();
  private readonly corePlayer: ScriptPlayer;
  private readonly referencePlayer: ScriptPlayer;
  private readonly choices: number[];
  private readonly script: OpForm[];
  private readonly asking: ReadonlySet<string>;
  /**
   * Questions answered since the last superstep. While there are any, and others are open, the reference engine lists
   * answered questions as open, leaves their nodes out of `next`, and runs the unanswered nodes again.
   */
  private answered = new Set<string>();
  private open: string[] = [];
  private lastStep: number | null = null;
  /** The last call failed, so that questions beside the failure may be open unseen. */
  private hasFailed = false;

  constructor(
    private readonly blueprint: Blueprint,
    engines: { core: CaseEngine; reference: CaseEngine },
    private readonly core: Session,
    reference: Session,
    subject: CaseForm,
  ) {
    this.script = subject.script;
    this.asking = new Set(askingNodes(subject.graph));
    this.corePlayer = new ScriptPlayer(engines.core, core);
    this.referencePlayer = new ScriptPlayer(engines.reference, reference);
    this.choices = [...blueprint.choices];
  }

  async run(input: Record<string, unknown>): Promise<Disagreement | undefined> {
    let inputsLeft = this.blueprint.secondInput ? 1 : 0;
    let op: OpForm | undefined = { op: "invoke", input, ...this.callOptions() };
    while (op !== undefined && this.script.length < callsMax) {
      const stillOpen = this.open.filter((question) => !this.isAnsweredBy(op!, question));
      const found = await this.call(op, stillOpen);
      if ("disagreement" in found) return found.disagreement;
      // After a refused step the reference engine can't show its state any more.
      if (found.result["error"] === "InvalidUpdateError") {
        this.features.add("conflict");
        return undefined;
      }
      if (found.reference["error"] === "AggregateError" && found.result["error"] === undefined) {
        this.features.add("commands beside a question");
        return undefined;
      }
      const shown = await this.call({ op: "state", subgraphs: true }, stillOpen);
      if ("disagreement" in shown) return shown.disagreement;
      op = this.nextOp(found.result, shown.result as unknown as StateView);
      if (op === undefined && inputsLeft > 0) {
        inputsLeft -= 1;
        this.features.add("second input");
        op = { op: "invoke", input: { log: ["again"] }, ...this.callOptions() };
      }
    }
    const history = await this.call({ op: "history" }, []);
    return "disagreement" in history ? history.disagreement : undefined;
  }

  private callOptions() {
    return {
      ...(this.blueprint.stepped && { interruptBefore: "*" as const }),
      ...(this.blueprint.recursionLimit !== undefined && { recursionLimit: this.blueprint.recursionLimit }),
    };
  }

  private async call(
    op: OpForm,
    stillOpen: readonly string[],
  ): Promise<{ result: StepResult; reference: StepResult } | { disagreement: Disagreement }> {
    const step = this.script.length;
    this.script.push(op);
    const core = plain(await this.corePlayer.play(op));
    const reference = plain(await this.referencePlayer.play(op));
    if (op.op === "state") this.notice(core as unknown as StateView);
    // From here on the two are at different places, so the script ends; the case runner has a case of its own for it.
    if (isCommandsBesideQuestion(reference) && core["error"] === undefined)
      return { result: core, reference };
    const partly = stillOpen.length > 0 || this.answered.size > 0;
    if (partly) this.features.add("partly answered");
    const [expected, actual] = [reference, core].map((given) => {
      const result = withUnfinishedSubgraphs(withSortedQuestions(given));
      const counted = partly || this.hasFailed ? withoutAsking(result, this.asking) : result;
      return partly ? withoutWaiting(counted) : counted;
    });
    const [first] = differencesAt(expected, actual, this.core.recorder.thrown);
    if (first === undefined) return { result: core, reference };
    return { disagreement: { step, path: first.path, core: first.actual, reference: first.expected } };
  }

  /** Remembers what is open; a new superstep forgets what was answered. */
  private notice(state: StateView): void {
    if (state.step !== this.lastStep) this.answered = new Set();
    this.lastStep = state.step;
    this.open = state.tasks.flatMap(({ interrupts }) => (interrupts ?? []) as string[]);
  }

  private isAnsweredBy(op: OpForm, question: string): boolean {
    if (op.op !== "resume") return false;
    return op.byQuestion === undefined || Object.hasOwn(op.byQuestion, question);
  }

  private nextOp(result: StepResult, state: StateView): OpForm | undefined {
    if (this.script.length >= callsMax) return undefined;
    this.hasFailed = typeof result["error"] === "string";
    if (typeof result["error"] === "string") {
      this.features.add(result["error"] === "GraphRecursionError" ? "recursion limit" : "failure");
      return { op: "continue", ...this.callOptions() };
    }
    if (this.open.length > 0) return this.answer();
    if (state.next.length > 0) {
      this.features.add("breakpoint");
      return { op: "continue", ...this.callOptions() };
    }
    return undefined;
  }

  private answer(): OpForm {
    const questions = [...new Set(this.open)];
    // In a subgraph the reference engine hands a plain answer out again, to a later question of the same call.
    const mayBePlain = this.open.length === 1 && !questions[0]!.includes("/");
    if (mayBePlain && this.choose(3) === 0) {
      this.answered.add(questions[0]!);
      return { op: "resume", value: this.choose(2) === 0 ? false : "yes", ...this.callOptions() };
    }
    this.features.add(questions.length > 1 ? "several questions" : "question");
    const count = 1 + this.choose(questions.length);
    const byQuestion: Record<string, unknown> = {};
    for (let index = 0; index < count; index += 1) {
      const [question] = questions.splice(this.choose(questions.length), 1);
      byQuestion[question!] = [0, null, "no", { deep: [question] }][this.choose(4)];
      this.answered.add(question!);
    }
    return { op: "resume", byQuestion, ...this.callOptions() };
  }

  private choose(below: number): number {
    return (this.choices.shift() ?? 0) % below;
  }
}

/**
 * The reference engine takes a second command for the parent beside an open question for an error. Such commands are
 * errors without words; whatever a node threw has some.
 */
function isCommandsBesideQuestion({ error, errors }: StepResult): boolean {
  return error === "AggregateError" && (errors as string[]).every((message) => message === "");
}

/** Channels for one step only: the reference engine empties them in what it shows once a question is answered. */
const briefChannels = ["topic", "brief", "any"];

/** A result without what differs while a step's questions are answered one by one. */
function withoutWaiting({ next: _next, tasks: _tasks, sub: _sub, ...rest }: StepResult): StepResult {
  const shown = { ...rest };
  for (const part of ["out", "values"]) {
    if (shown[part] === undefined || shown[part] === null) continue;
    const values = { ...(shown[part] as Record<string, unknown>) };
    for (const key of briefChannels) delete values[key];
    if (Array.isArray(values["$interrupts"]))
      values["$interrupts"] = [...(values["$interrupts"] as string[])].sort();
    shown[part] = values;
  }
  return shown;
}

/** A result with its questions in one order: the reference engine lists them as declared where a call goes on, else by name. */
function withSortedQuestions(result: StepResult): StepResult {
  const out = result["out"] as { $interrupts?: string[] } | null | undefined;
  if (!Array.isArray(out?.$interrupts)) return result;
  return { ...result, out: { ...out, $interrupts: [...out.$interrupts].sort() } };
}

/** A result with the states of only those subgraphs that are still to run: of others they are of no use any more. */
function withUnfinishedSubgraphs(result: StepResult): StepResult {
  const { sub, next } = result as { sub?: { name: string }[]; next?: string[] };
  return sub === undefined ? result : { ...result, sub: sub.filter(({ name }) => next?.includes(name)) };
}

/** A result without the calls of nodes that may ask: the reference engine runs them again while they wait. */
function withoutAsking(result: StepResult, asking: ReadonlySet<string>): StepResult {
  if (result["ran"] === undefined) return result;
  const others = Object.entries(result["ran"] as Record<string, number>).filter(([id]) => !asking.has(id));
  return { ...result, ran: Object.fromEntries(others) };
}

/** Nodes that may ask, by the id under which their calls are counted. */
function askingNodes(graph: GraphForm, prefix = ""): string[] {
  return Object.entries(graph.nodes).flatMap(([name, node]) =>
    node.graph !== undefined
      ? askingNodes(node.graph, `${prefix}${name}/`)
      : node.args?.["asks"] === undefined
        ? []
        : [`${prefix}${name}`],
  );
}

const plain = (result: StepResult): StepResult => JSON.parse(JSON.stringify(result)) as StepResult;
