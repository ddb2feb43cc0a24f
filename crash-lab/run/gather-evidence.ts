/** Everything that every observer said of one run, as lines of evidence. */
import type { Effect, Told } from "../judge/evidence.js";
import type { EvidenceLine } from "../judge/evidence-line.js";
import type { HistoryEvent } from "../judge/history.js";
import { successorOf, type LostTask } from "../judge/lost-tasks.js";
import type { CrashLabDefinition } from "../lab-definition.js";
import type { BoundaryEvent } from "../taps/event.js";
import type { GoldenRun } from "./golden.js";
import type { JudgedCase } from "./play-cases.js";

interface Observed<Environment> {
  readonly definition: CrashLabDefinition<Environment>;
  readonly environment: Environment;
}

/** An undisturbed run, which the others are compared with. */
export async function evidenceOfGolden<Environment>(
  lab: Observed<Environment>,
  story: string,
  { run, found }: GoldenRun,
): Promise<EvidenceLine[]> {
  const at = run.events[0]?.at ?? 0;
  return [
    lineOf(run.token, { system: "lab", seq: 0, at, kind: "golden", key: story, status: found.ending.state }),
    ...(await outsideLines(lab, run.token, found.effects)),
    ...run.events.map((event, index) => tapLine(run.token, event, index)),
    ...found.history.map((event, index) => historyLine(run.token, event, index)),
  ];
}

/** A judged case with what was done to it; one that never ran has only the lab's word. */
export async function evidenceOfCase<Environment>(
  lab: Observed<Environment>,
  judged: JudgedCase,
): Promise<EvidenceLine[]> {
  const { target, judgement, played } = judged;
  if (played === null) return [];
  const { run, told, found, victim, faultAt } = played;
  const token = run.token;
  const own = (line: Omit<Line, "system" | "at">): EvidenceLine =>
    lineOf(token, { system: "lab", at: faultAt, ...line });
  return [
    ...(await outsideLines(lab, token, found.effects)),
    ...told.map((each, index) => callerLine(token, each, index, faultAt)),
    ...run.events.map((event, index) => tapLine(token, event, index)),
    ...found.history.map((event, index) => historyLine(token, event, index)),
    own({ seq: 0, kind: "fault", key: target.window, status: target.verb }),
    ...(victim
      ? [
          own({
            seq: 1,
            kind: "victim",
            key: target.window,
            status: `process ${victim.pid}, ${victim.signal ?? "no signal"}, ${victim.identity ?? "no identity"}`,
          }),
          ...victim.lostTasks.map((task, index) => own({ seq: 2 + index, ...lostTask(task, found.history) })),
        ]
      : []),
    own({ seq: 1_000, kind: "verdict", key: target.window, status: judgement.verdict }),
  ];
}

function lostTask(
  task: LostTask,
  history: readonly HistoryEvent[],
): Pick<EvidenceLine, "kind" | "key" | "status"> {
  const successor = successorOf(task, history);
  const done = successor ? `attempt ${successor.attempt}, ${successor.identity}` : "nobody";
  return {
    kind: "lost-task",
    key: `${task.workflowId}/${task.activityId} ${task.activityType}`,
    status: `attempt ${task.attempt}, ${task.identity}; done by ${done}`,
  };
}

type Line = Omit<EvidenceLine, "run" | "at" | "digest"> & {
  /** Milliseconds since 1970, or ISO 8601. */
  readonly at: number | string;
  readonly digest?: string | null;
};

function lineOf(run: string, { system, seq, at, kind, key, digest, status }: Line): EvidenceLine {
  return { run, system, seq, at: new Date(at).toISOString(), kind, key, digest: digest ?? "", status };
}

async function outsideLines<Environment>(
  { definition, environment }: Observed<Environment>,
  token: string,
  effects: readonly Effect[],
): Promise<readonly EvidenceLine[]> {
  if (definition.evidence) return definition.evidence(environment, token);
  return effects.map(({ system, subject, contentDigest, sequence }) =>
    lineOf(token, {
      system,
      seq: sequence,
      at: 0,
      kind: "committed",
      key: subject,
      digest: contentDigest,
      status: null,
    }),
  );
}

function callerLine(token: string, { request, status }: Told, index: number, at: number): EvidenceLine {
  return lineOf(token, { system: "caller", seq: index, at, kind: "told", key: request, status });
}

function tapLine(token: string, event: BoundaryEvent, index: number): EvidenceLine {
  const { process, tap, side, label, digest, details } = event;
  const delivered = details.kind === "temporal" ? details.delivered : [];
  const given = delivered.map(({ attempt, identity }) => `attempt ${attempt} to ${identity}`);
  return lineOf(token, {
    system: `tap:${process}/${tap}`,
    seq: index,
    at: event.at,
    kind: side,
    key: event.key === null ? label : `${label} ${event.key}`,
    digest,
    status: given.length > 0 ? given.join(", ") : event.status,
  });
}

function historyLine(token: string, event: HistoryEvent, index: number): EvidenceLine {
  const { workflowId, activityId, attempt, identity } = event;
  const who = [attempt === null ? null : `attempt ${attempt}`, identity].filter((part) => part !== null);
  return lineOf(token, {
    system: "history",
    seq: index,
    at: event.at,
    kind: event.type,
    key: activityId === null ? workflowId : `${workflowId}/${activityId}`,
    status: who.length > 0 ? who.join(", ") : null,
  });
}
