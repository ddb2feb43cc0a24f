import type { CaseEngine, Place, PlayedCase, Session } from "./engine.js";
import type { CaseForm, OpForm } from "./form.js";
import { CaseFileError, type FunctionLibrary } from "./functions.js";

const defaultThread = "t1";

/** Longest message that an outcome keeps, in characters; expectation files are cut alike. */
const messageLengthMax = 120;

/** An error as data: its name, its code if it has one, and the first line of its message. */
export function plainError(engine: CaseEngine, thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { error: "Error", message: firstLine(String(thrown)) };
  const { name, code, message, errors } = engine.describe(thrown);
  return {
    error: name,
    ...(code !== undefined && { code }),
    message: firstLine(message),
    ...(errors !== undefined && { errors: [...errors].sort() }),
  };
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").slice(0, messageLengthMax);

/** The nodes that were called since `before`, with how often. */
function callsSince(before: Record<string, number>, now: Record<string, number>): Record<string, number> {
  const grown = Object.entries(now).map(([id, count]) => [id, count - (before[id] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0).sort(byName));
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/**
 * Runs one case's script on one engine. An error of a call is part of the outcome, since cases expect errors; only a
 * fault of the case file itself is thrown.
 */
export async function playCase(
  engine: CaseEngine,
  subject: CaseForm,
  functions: FunctionLibrary,
): Promise<PlayedCase> {
  let session: Session;
  try {
    session = await engine.open(subject, functions);
  } catch (error) {
    if (error instanceof CaseFileError) throw error;
    return { steps: [{ compile: plainError(engine, error) }], thrown: new Set() };
  }
  const player = new ScriptPlayer(engine, session);
  const steps: Record<string, unknown>[] = [];
  for (const op of subject.script) steps.push(await player.play(op));
  const calls = Object.fromEntries(Object.entries(session.recorder.calls).sort(byName));
  return { steps, calls, thrown: session.recorder.thrown };
}

/** Plays calls one by one and remembers the checkpoint that the script has chosen for the next one. */
export class ScriptPlayer {
  private chosen: string | undefined;

  constructor(
    private readonly engine: CaseEngine,
    private readonly session: Session,
  ) {}

  async play(op: OpForm): Promise<Record<string, unknown>> {
    const before = { ...this.session.recorder.calls };
    try {
      return await this.perform(op, () => callsSince(before, this.session.recorder.calls));
    } catch (error) {
      if (error instanceof CaseFileError) throw error;
      this.chosen = undefined;
      return { ...plainError(this.engine, error), ran: callsSince(before, this.session.recorder.calls) };
    }
  }

  private async perform(op: OpForm, ran: () => Record<string, number>): Promise<Record<string, unknown>> {
    const place = this.place(op);
    switch (op.op) {
      case "invoke":
      case "resume":
      case "continue":
        this.chosen = undefined;
        if (op.stream !== undefined) return { chunks: await this.session.stream(op, place), ran: ran() };
        return { out: await this.session.run(op, place), ran: ran() };
      case "state":
        return { ...(await this.session.state(place, op.subgraphs ?? false)) };
      case "history": {
        const history = await this.session.history(place.thread);
        return { history: history.map(({ step, source, next, values }) => ({ step, source, next, values })) };
      }
      case "update": {
        const written = await this.session.update(place, op.values, op.asNode);
        this.chosen = this.chosen !== undefined && op.keepHead !== true ? written : undefined;
        return { updated: true };
      }
      case "updateSub":
        await this.session.updateSubgraph(place, op.node, op.values, op.asNode);
        return { updated: true };
      case "bulk":
        await this.session.bulkUpdate(place, op.supersteps as { values: unknown; asNode: string }[][]);
        return { updated: true };
      case "at":
        return this.choose(op);
    }
  }

  private place(op: OpForm): Place {
    const thread = op.thread ?? defaultThread;
    const head = "head" in op && op.head === true;
    return this.chosen === undefined || head ? { thread } : { thread, checkpoint: this.chosen };
  }

  private async choose(op: Extract<OpForm, { op: "at" }>): Promise<Record<string, unknown>> {
    const history = await this.session.history(op.thread ?? defaultThread);
    const fitting = history.filter(
      (view) => view.step === op.step && (op.source === undefined || view.source === op.source),
    );
    const found = op.oldest === true ? fitting.at(-1) : fitting[0];
    if (found === undefined) {
      throw new Error(`no checkpoint of step ${op.step}${op.source ? ` and source ${op.source}` : ""}`);
    }
    this.chosen = found.checkpoint;
    return { at: op.step, next: found.next };
  }
}
