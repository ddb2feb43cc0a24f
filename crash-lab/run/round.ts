import type { Told, VictimEvidence } from "../judge/evidence.js";
import type { Found } from "./ending.js";
import { HeldRun, type Target } from "./held-run.js";
import type { Instance } from "./instance.js";

/** What a round needs of the lab. */
export interface RoundLab {
  newToken(): string;
  /** Has the run's events led to it. */
  add(run: HeldRun): void;
  /** Its later events are nobody's concern any more. */
  retire(run: HeldRun): void;
  start(run: HeldRun): Promise<readonly Told[]>;
  /** Resolves when the run has ended, or the signal is aborted. */
  closed(run: HeldRun, signal: AbortSignal): Promise<void>;
  ending(run: HeldRun): Promise<Found>;
  active(process: string): Instance;
  replace(process: string): Promise<unknown>;
  /** Holding longer than this would make the server start a second attempt beside the held one. */
  readonly holdMsMax: number;
}

/** One case of a round after everything has become quiet. */
export interface PlayedCase {
  readonly run: HeldRun;
  readonly target: Target;
  readonly told: readonly Told[];
  readonly victim: VictimEvidence | undefined;
  readonly found: Found;
  /** From the fault to the run's end, in milliseconds. With more than one case in the round it says little. */
  readonly recoverMs: number;
}

export interface PlayedRound {
  readonly cases: readonly PlayedCase[];
  /** Targets that their runs had not come to when the round's kill fell; they belong into another round. */
  readonly notReached: readonly Target[];
  /** From the first arrival to the kill, in milliseconds: what the round's size is adapted by. */
  readonly holdMs: number;
}

/**
 * Plays one round of kills: a run for each target, each held at its own window, then one SIGKILL that tests them
 * all, since every one of them is at a place where the same process dies.
 *
 * @param process the victim; all targets are windows of its connections
 */
export async function playKillRound(
  lab: RoundLab,
  story: string,
  process: string,
  targets: readonly Target[],
): Promise<PlayedRound> {
  const { runs, told } = startRuns(lab, story, targets);
  const holdMs = await allArrived(lab, runs, told);
  const faultAt = Date.now();
  const held = closeRound(runs);
  const victims =
    held.length > 0 ? await killAndReplace(lab, process, held) : new Map<HeldRun, VictimEvidence>();
  for (const run of runs) run.drop();
  return collect(lab, { runs, held, told, victims, holdMs, faultAt });
}

/** Plays one round of faults that the process survives; each falls by itself when its run comes to its window. */
export async function playSurvivedRound(
  lab: RoundLab,
  story: string,
  targets: readonly Target[],
): Promise<PlayedRound> {
  const { runs, told } = startRuns(lab, story, targets);
  const faultAt = Date.now();
  await allArrived(lab, runs, told);
  const held = closeRound(runs);
  return collect(lab, { runs, held, told, victims: new Map(), holdMs: 0, faultAt });
}

/** Whoever is at its window now, and nowhere else, belongs to this round's fault; the others don't count. */
function closeRound(runs: readonly HeldRun[]): HeldRun[] {
  for (const run of runs) if (!run.reached) run.disarm();
  return runs.filter(({ reached, slipped }) => reached && !slipped);
}

type ToldByRun = ReadonlyMap<HeldRun, Promise<readonly Told[]>>;

function startRuns(
  lab: RoundLab,
  story: string,
  targets: readonly Target[],
): { runs: HeldRun[]; told: ToldByRun } {
  const runs = targets.map((target) => new HeldRun(lab.newToken(), story, target));
  const told = new Map<HeldRun, Promise<readonly Told[]>>();
  for (const run of runs) {
    lab.add(run);
    // Not awaited here: a caller whose request is held waits as long as the hold.
    const starting = lab.start(run);
    starting.catch(() => undefined);
    told.set(run, starting);
  }
  return { runs, told };
}

/**
 * Waits until every run is at its window or has ended without coming there, at most as long as messages may be held.
 *
 * @returns how long the first one that arrived has been held, in milliseconds
 */
async function allArrived(lab: RoundLab, runs: readonly HeldRun[], told: ToldByRun): Promise<number> {
  const settled = new AbortController();
  let firstAt: number | undefined;
  let limit: NodeJS.Timeout | undefined;
  const tooLong = new Promise<void>((resolve) => {
    for (const run of runs)
      void run.arrived.then(() => {
        firstAt ??= Date.now();
        limit ??= setTimeout(resolve, lab.holdMsMax);
      });
  });
  try {
    await Promise.race([
      tooLong,
      Promise.all(
        runs.map((run) => {
          // Only what has begun can have ended.
          const closed = told.get(run)!.then(() => lab.closed(run, settled.signal));
          return Promise.race([run.arrived, closed]);
        }),
      ),
    ]);
  } finally {
    settled.abort();
    clearTimeout(limit);
  }
  return firstAt === undefined ? 0 : Date.now() - firstAt;
}

async function killAndReplace(
  lab: RoundLab,
  process: string,
  held: readonly HeldRun[],
): Promise<Map<HeldRun, VictimEvidence>> {
  const evidence = await lab.active(process).die(held.map(({ at }) => at!));
  await lab.replace(process);
  return new Map(held.map((run, at) => [run, evidence[at]!]));
}

interface Faulted {
  readonly runs: readonly HeldRun[];
  readonly held: readonly HeldRun[];
  readonly told: ToldByRun;
  readonly victims: ReadonlyMap<HeldRun, VictimEvidence>;
  readonly holdMs: number;
  readonly faultAt: number;
}

async function collect(
  lab: RoundLab,
  { runs, held, told, victims, holdMs, faultAt }: Faulted,
): Promise<PlayedRound> {
  const cases = await Promise.all(
    held.map(async (run): Promise<PlayedCase> => {
      const found = await lab.ending(run);
      const recoverMs = Date.now() - faultAt;
      return {
        run,
        target: run.target!,
        told: await told.get(run)!,
        victim: victims.get(run),
        found,
        recoverMs,
      };
    }),
  );
  for (const run of runs) lab.retire(run);
  const notReached = runs.filter((run) => !held.includes(run)).map(({ target }) => target!);
  return { cases, notReached, holdMs };
}
