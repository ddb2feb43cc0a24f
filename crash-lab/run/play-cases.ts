import { messageOf } from "../../platform/errors.js";
import type { CaseEvidence, GoldenOutcome } from "../judge/evidence.js";
import { judge, type Judgement } from "../judge/judge.js";
import type { Expectation } from "../lab-definition.js";
import { meaningOf } from "../verbs/verb.js";
import { parseWindowName } from "../windows/window-name.js";
import type { Target } from "./held-run.js";
import {
  playKillRound,
  playSurvivedRound,
  type PlayedCase,
  type PlayedRound,
  type RoundLab,
} from "./round.js";
import type { RoundSize } from "./round-size.js";
import { stagesOf, type ArrivalMs } from "./stages.js";

/** The fewest cases that are worth a process and a kill of their own; fewer wait for their turn instead. */
const casesPerLaneMin = 6;

/** A case with its verdict and everything the verdict rests on. */
export interface JudgedCase {
  readonly target: Target;
  readonly judgement: Judgement;
  readonly evidence: CaseEvidence;
  readonly recoverMs: number | null;
  readonly played: PlayedCase | null;
}

export interface PlayOptions {
  readonly story: string;
  readonly golden: GoldenOutcome;
  readonly expectations: readonly Expectation[];
  readonly size: RoundSize;
  /** Default: all windows are come to at about the same time. */
  readonly arrivalMs?: ArrivalMs;
  /** Did both undisturbed runs come by this window? */
  readonly stable: (window: string) => boolean;
  /** Called for each case as it is judged, with the lane it was played in. */
  readonly onCase: (judged: JudgedCase, lane: RoundLab) => void;
  /** Stops between rounds. */
  readonly signal: AbortSignal;
}

/**
 * Plays every target, many in a round, and judges them. Rounds of different lanes go on side by side: while the runs of
 * one recover, which is mostly waiting, those of another are on their way to their windows. A window that its run had
 * not come to when the round's kill fell goes into a later round; one that isn't reached in a round of its own is
 * `unreached`.
 *
 * @returns the cases in the order in which they were judged
 */
export async function playCases(
  lanes: readonly RoundLab[],
  targets: readonly Target[],
  options: PlayOptions,
): Promise<JudgedCase[]> {
  const judged: JudgedCase[] = [];
  const gapMsMax = lanes[0]!.holdMsMax / 2;
  const arrivalMs = options.arrivalMs ?? (() => 0);
  for (const group of groups(targets).flatMap((each) => stagesOf(each, arrivalMs, gapMsMax))) {
    const useful = lanes.slice(0, lanesFor(group.length, lanes.length));
    const share = shareOf(group.length, options.size.current, useful.length);
    const waiting = dealt(group, share);
    await Promise.all(
      useful.map((lane) =>
        playLane(lane, waiting, share, options, (each) => {
          judged.push(each);
          options.onCase(each, lane);
        }),
      ),
    );
  }
  return judged;
}

/** How many lanes so many cases are worth. */
export function lanesFor(cases: number, lanesMax: number): number {
  return Math.max(1, Math.min(lanesMax, Math.floor(cases / casesPerLaneMin)));
}

/** Rounds of equal size, as few as there can be with every lane busy to the end. */
function shareOf(cases: number, roundSize: number, lanes: number): number {
  const rounds = Math.ceil(cases / (roundSize * lanes)) * lanes;
  return Math.ceil(cases / rounds);
}

/** @param waiting shared with the other lanes: each takes from its beginning, and what it didn't come to goes back */
async function playLane(
  lab: RoundLab,
  waiting: Target[],
  share: number,
  options: PlayOptions,
  record: (judged: JudgedCase) => void,
): Promise<void> {
  let reading: Promise<unknown> = Promise.resolve();
  let alone = false;
  while (waiting.length > 0) {
    options.signal.throwIfAborted();
    const taken: readonly Target[] = waiting.splice(0, alone ? 1 : Math.min(share, options.size.current));
    const round = await playRound(lab, options.story, taken);
    options.size.learn({ holdMs: round.holdMs, notReached: round.notReached.length });
    // What this round left behind is read while the next one travels, but never two rounds behind.
    await lab.phases.during("judge", () => reading);
    reading = Promise.all(
      round.cases.map(async ({ target, played }) =>
        record(
          await played.then(
            (each) => judgePlayed(each, options),
            (error: unknown) => notJudged(target, error),
          ),
        ),
      ),
    );
    reading.catch(() => undefined);
    // A window that only one undisturbed run came by can't be missed, so it is no case when no run comes by again.
    if (taken.length === 1)
      for (const target of round.notReached) if (options.stable(target.window)) record(unreached(target));
    // Nothing of a full round arrived: try one alone, so that a round always ends with something judged.
    alone = round.cases.length === 0 && taken.length > 1;
    const again = taken.length === 1 ? [] : round.notReached;
    if (alone) waiting.unshift(...again);
    else waiting.push(...again);
  }
  await lab.phases.during("judge", () => reading);
}

/** One kill ends one process, so only windows of one process, tried with one verb, can share a round. */
function groups(targets: readonly Target[]): Target[][] {
  const byVictim = new Map<string, Target[]>();
  for (const target of targets) {
    const name = JSON.stringify([parseWindowName(target.window).process, target.verb]);
    byVictim.set(name, [...(byVictim.get(name) ?? []), target]);
  }
  return [...byVictim.values()];
}

/**
 * Neighbours in the manifest need the same of their process, a connection to the database for example, of which it has
 * few; so they are dealt to different rounds.
 */
function dealt(targets: readonly Target[], roundSize: number): Target[] {
  const hands = Math.ceil(targets.length / roundSize);
  return Array.from({ length: hands }, (_, hand) =>
    targets.filter((_target, at) => at % hands === hand),
  ).flat();
}

function playRound(lab: RoundLab, story: string, targets: readonly Target[]): Promise<PlayedRound> {
  const { window, verb } = targets[0]!;
  return meaningOf(verb).kills
    ? playKillRound(lab, story, parseWindowName(window).process, targets)
    : playSurvivedRound(lab, story, targets);
}

function judgePlayed(played: PlayedCase, { golden, expectations }: PlayOptions): JudgedCase {
  const { target, run, victim, found, told } = played;
  const expected = expectations.find(
    ({ window, verb }) =>
      verb === target.verb &&
      (typeof window === "string"
        ? window === target.window || target.window.endsWith(`/${window}`)
        : window.test(target.window)),
  );
  const evidence: CaseEvidence = {
    fault: { verb: target.verb, reached: run.reached, fired: run.fired, ...(victim ? { victim } : {}) },
    told,
    missedExpectations: missed(expected, found.ending.state),
    ...found,
  };
  return {
    target,
    judgement: judge(evidence, golden),
    evidence,
    recoverMs: played.recoverMs,
    played,
  };
}

/** Parking where nobody said that it would be right is as wrong as not parking where it was said. */
function missed(expected: Expectation | undefined, state: CaseEvidence["ending"]["state"]): string[] {
  if (state === "parked" && expected?.verdict !== "parked")
    return ["it parked, which the scenario does not declare here"];
  if (expected?.verdict === "parked" && state !== "parked")
    return [`it should have parked: ${expected.because}`];
  return [];
}

function unreached(target: Target): JudgedCase {
  const evidence = nothingKnown(target, { reached: false, fired: false });
  return { target, judgement: judge(evidence, { effects: [] }), evidence, recoverMs: null, played: null };
}

/** The lab couldn't read what it needs; that says nothing about the code under test. */
function notJudged(target: Target, error: unknown): JudgedCase {
  return {
    target,
    judgement: { verdict: "harness", detail: messageOf(error) },
    evidence: nothingKnown(target, { reached: true, fired: true }),
    recoverMs: null,
    played: null,
  };
}

function nothingKnown(
  { verb }: Target,
  fault: { readonly reached: boolean; readonly fired: boolean },
): CaseEvidence {
  return {
    fault: { verb, ...fault },
    ending: { state: "absent" },
    effects: [],
    told: [],
    history: [],
    replay: { ok: true, detail: "" },
    invariants: [],
    missedExpectations: [],
  };
}
