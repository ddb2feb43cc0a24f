import type { CaseEvidence, Effect, GoldenOutcome } from "./evidence.js";
import { successorOf } from "./lost-tasks.js";
import type { Verdict } from "./verdicts.js";

export interface Judgement {
  readonly verdict: Verdict;
  /** What decided it, for a person. */
  readonly detail: string;
}

/**
 * Judges one case from its evidence, and from nothing else.
 *
 * The order is fixed. First whether the case tested anything at all, since everything below would be a statement
 * about an undisturbed run. Then safety from the outside systems' own journals, since a doubled effect is no less
 * doubled because the run is also stuck. Then liveness and the rest.
 */
export function judge(evidence: CaseEvidence, golden: GoldenOutcome): Judgement {
  return (
    testedNothing(evidence) ??
    compareEffects(evidence, golden) ??
    brokenInvariant(evidence) ??
    notEnded(evidence) ??
    notReplayable(evidence) ??
    missedExpectation(evidence) ??
    passed(evidence, golden)
  );
}

function testedNothing({ fault, history }: CaseEvidence): Judgement | undefined {
  if (!fault.reached) return { verdict: "unreached", detail: "the run never came to this window" };
  if (!fault.fired) return { verdict: "vacuous", detail: `${fault.verb} did not fire` };
  if (fault.verb !== "kill") return undefined;
  const { victim } = fault;
  if (!victim) return { verdict: "vacuous", detail: "no victim is on record" };
  if (victim.signal !== "SIGKILL")
    return {
      verdict: "vacuous",
      detail: `process ${victim.pid} was not reaped by the lab with SIGKILL (${victim.signal ?? "no signal"}); is it started through a wrapper?`,
    };
  if (!victim.connectionsBroken)
    return { verdict: "vacuous", detail: `process ${victim.pid} died but the held connections live on` };
  for (const task of victim.lostTasks) {
    const successor = successorOf(task, history);
    // History keeps no start of an activity that is still open; it then says nothing either way.
    if (successor && (successor.identity === task.identity || (successor.attempt ?? 0) <= task.attempt))
      return {
        verdict: "vacuous",
        detail: `${task.activityType} was not lost: history says that attempt ${successor.attempt} by ${successor.identity} did it`,
      };
  }
  return undefined;
}

/** One subject at one outside system: what an undisturbed run did there, and what was found. */
interface Comparison {
  readonly subject: string;
  readonly expected: readonly Effect[];
  readonly found: readonly Effect[];
}

function compareEffects(evidence: CaseEvidence, golden: GoldenOutcome): Judgement | undefined {
  const comparisons = bySubject(golden.effects, evidence.effects);
  return (
    firstOf(comparisons, diverged) ??
    firstOf(comparisons, duplicated) ??
    (mayLackEffects(evidence) ? undefined : firstOf(comparisons, lost))
  );
}

/** A parked run may lack effects: that is what it says. A run that was never admitted has none, and says so. */
function mayLackEffects({ ending, told }: CaseEvidence): boolean {
  if (ending.state === "parked") return true;
  if (ending.state === "open") return true; // `stuck` says more than `lost` while it may still come
  return ending.state === "absent" && !told.some(({ status }) => status >= 200 && status < 300);
}

function bySubject(expected: readonly Effect[], found: readonly Effect[]): Comparison[] {
  const name = (effect: Effect): string => `${effect.system} ${effect.subject}`;
  const subjects = new Set([...expected, ...found].map(name));
  return [...subjects].sort().map((subject) => ({
    subject,
    expected: expected.filter((effect) => name(effect) === subject),
    found: found.filter((effect) => name(effect) === subject),
  }));
}

function diverged({ subject, expected, found }: Comparison): Judgement | undefined {
  if (found.length === 0) return undefined;
  const known = new Set(expected.map((effect) => effect.contentDigest));
  const strange = found.filter((effect) => !known.has(effect.contentDigest));
  if (strange.length === 0) return undefined;
  const what =
    expected.length === 0
      ? "an undisturbed run has no such effect"
      : `content ${strange.map((effect) => effect.contentDigest.slice(0, 12)).join(", ")} instead of ${[...known].map((digest) => digest.slice(0, 12)).join(", ")}`;
  return { verdict: "diverged", detail: `${subject}: ${what}` };
}

function duplicated({ subject, expected, found }: Comparison): Judgement | undefined {
  return found.length > expected.length
    ? { verdict: "duplicated", detail: `${subject}: ${found.length} effects instead of ${expected.length}` }
    : undefined;
}

function lost({ subject, expected, found }: Comparison): Judgement | undefined {
  return found.length < expected.length
    ? { verdict: "lost", detail: `${subject}: ${found.length} effects instead of ${expected.length}` }
    : undefined;
}

function firstOf(
  comparisons: readonly Comparison[],
  rule: (comparison: Comparison) => Judgement | undefined,
): Judgement | undefined {
  for (const comparison of comparisons) {
    const judgement = rule(comparison);
    if (judgement) return judgement;
  }
  return undefined;
}

function brokenInvariant({ invariants }: CaseEvidence): Judgement | undefined {
  const broken = invariants.find(({ holds }) => !holds);
  return broken && { verdict: "violated", detail: `${broken.name}: ${broken.detail}` };
}

function notEnded({ ending }: CaseEvidence): Judgement | undefined {
  if (ending.state !== "open") return undefined;
  return {
    verdict: "stuck",
    detail: `still pending: ${ending.pending.join(", ") || "nothing that could go on"}`,
  };
}

function notReplayable({ replay }: CaseEvidence): Judgement | undefined {
  return replay.ok ? undefined : { verdict: "nondeterministic", detail: replay.detail };
}

function missedExpectation({ missedExpectations }: CaseEvidence): Judgement | undefined {
  return missedExpectations.length === 0
    ? undefined
    : { verdict: "unexpected", detail: missedExpectations.join("; ") };
}

function passed({ ending, effects }: CaseEvidence, golden: GoldenOutcome): Judgement {
  if (ending.state === "parked") return { verdict: "parked", detail: `recovery row ${ending.recoveryRow}` };
  if (ending.state === "absent" && golden.effects.length > 0)
    return { verdict: "not-admitted", detail: "no effect, and nobody was told otherwise" };
  return { verdict: "once", detail: `${effects.length} effects, as in the undisturbed run` };
}
