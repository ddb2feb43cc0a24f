import type { Told, VictimEvidence } from "../judge/evidence.js";
import { identityAt, lostActivityTasks, openTasks } from "../judge/lost-tasks.js";
import type { Standing } from "../lab-definition.js";
import type { DeliveredTask } from "../taps/event.js";
import type { Found, RunEnd } from "./ending.js";
import { HeldRun, type Target } from "./held-run.js";
import type { Instance } from "./instance.js";
import type { PhaseTimes } from "./phases.js";

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
  /** Resolves when the run has ended or its deadline has passed. */
  ending(run: HeldRun): Promise<RunEnd>;
  /** Journals, histories, invariants and replay of a run that has ended. */
  facts(run: HeldRun, ending: Standing): Promise<Found>;
  active(process: string): Pick<Instance, "die">;
  replace(process: string): Promise<unknown>;
  /** Tells the server that these tasks died with their worker; absent where real time-outs are waited for. */
  readonly reportDead?: (tasks: readonly DeliveredTask[]) => Promise<void>;
  /** Holding longer than this would make the server start a second attempt beside the held one. */
  readonly holdMsMax: number;
  /** Nothing has arrived and nothing has ended for this long: the round goes on without whoever is stuck. */
  readonly travelMsMax: number;
  readonly phases: PhaseTimes;
}

/** One case of a round after everything has become quiet. */
export interface PlayedCase {
  readonly run: HeldRun;
  readonly target: Target;
  readonly told: readonly Told[];
  readonly victim: VictimEvidence | undefined;
  readonly found: Found;
  /** When the fault fell, in milliseconds since 1970 by the lab's clock. */
  readonly faultAt: number;
  /** From the fault to the run's end, in milliseconds. With more than one case in the round it says little. */
  readonly recoverMs: number;
}

/** A round whose runs have all ended. What they left behind is still being read, beside the next round. */
export interface PlayedRound {
  /** `played` rejects when the lab itself couldn't find out about a case. */
  readonly cases: readonly { readonly target: Target; readonly played: Promise<PlayedCase> }[];
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
    held.length > 0 ? await killAndReplace(lab, process, runs, held) : new Map<HeldRun, VictimEvidence>();
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
  const startedAt = Date.now();
  let firstAt: number | undefined;
  let limit: NodeJS.Timeout | undefined;
  const tooLong = new Promise<void>((resolve) => {
    limit = setTimeout(resolve, lab.travelMsMax);
    for (const run of runs)
      void run.arrived.then(() => {
        if (firstAt !== undefined) return;
        firstAt = Date.now();
        clearTimeout(limit);
        limit = setTimeout(resolve, lab.holdMsMax);
      });
  });
  try {
    await Promise.race([
      tooLong,
      Promise.all(
        runs.map((run) => {
          // Only what has begun can have ended; what couldn't begin comes nowhere.
          const closed = told.get(run)!.then(
            () => lab.closed(run, settled.signal),
            () => undefined,
          );
          return Promise.race([run.arrived, closed]);
        }),
      ),
    ]);
  } finally {
    settled.abort();
    clearTimeout(limit);
  }
  const now = Date.now();
  lab.phases.add("travel", (firstAt ?? now) - startedAt);
  lab.phases.add("hold", now - (firstAt ?? now));
  return firstAt === undefined ? 0 : now - firstAt;
}

async function killAndReplace(
  lab: RoundLab,
  process: string,
  runs: readonly HeldRun[],
  held: readonly HeldRun[],
): Promise<Map<HeldRun, VictimEvidence>> {
  const deaths = await lab.phases.during("kill", () => lab.active(process).die(held.map(({ at }) => at!)));
  // It lived on until the signal came through, so only now is it certain what it was given and what it answered.
  const seen = new Map(
    runs.map((run) => {
      // What other processes were given isn't lost: they live.
      const events = run.events.filter((event) => event.process === process);
      return [run, { events, withheld: new Set(run.withheld) }] as const;
    }),
  );
  await lab.phases.during("standby", () => lab.replace(process));
  if (lab.reportDead) {
    const open = [...seen.values()].flatMap(({ events, withheld }) => openTasks(events, withheld));
    await lab.reportDead(open);
  }
  return new Map(
    held.map((run, index) => {
      const { events, withheld } = seen.get(run)!;
      const victim = {
        ...deaths[index]!,
        identity: identityAt(run.at!.event, events, withheld),
        lostTasks: lostActivityTasks(events, withheld),
      };
      return [run, victim];
    }),
  );
}

interface Faulted {
  readonly runs: readonly HeldRun[];
  readonly held: readonly HeldRun[];
  readonly told: ToldByRun;
  readonly victims: ReadonlyMap<HeldRun, VictimEvidence>;
  readonly holdMs: number;
  readonly faultAt: number;
}

/**
 * Waits for the end of all runs of the round, also of those that didn't come to their windows: the next kill must
 * find none of them, or it would be the second one in their lives.
 */
async function collect(
  lab: RoundLab,
  { runs, held, told, victims, holdMs, faultAt }: Faulted,
): Promise<PlayedRound> {
  const endings = new Map(runs.map((run) => [run, endingAfter(lab, run, told.get(run)!, faultAt)] as const));
  await lab.phases.during("recover", () => Promise.allSettled(endings.values()));
  const cases = held.map((run) => {
    const played = factsAfter(lab, run, endings.get(run)!, { victim: victims.get(run), faultAt });
    // Whoever reads the cases sees the failure; until then it must not end this process.
    played.catch(() => undefined);
    return { target: run.target!, played };
  });
  const others = runs.filter((run) => !held.includes(run));
  for (const run of others) lab.retire(run);
  return { cases, notReached: others.map(({ target }) => target!), holdMs };
}

type Ended = Pick<PlayedCase, "told" | "recoverMs"> & { readonly ending: Standing };

async function endingAfter(
  lab: RoundLab,
  run: HeldRun,
  told: Promise<readonly Told[]>,
  faultAt: number,
): Promise<Ended> {
  const answers = await told;
  const { standing, told: later } = await lab.ending(run);
  return { told: [...answers, ...later], ending: standing, recoverMs: Date.now() - faultAt };
}

async function factsAfter(
  lab: RoundLab,
  run: HeldRun,
  ended: Promise<Ended>,
  fault: Pick<PlayedCase, "victim" | "faultAt">,
): Promise<PlayedCase> {
  const { told, ending, recoverMs } = await ended;
  try {
    const found = await lab.facts(run, ending);
    return { run, target: run.target!, told, found, recoverMs, ...fault };
  } finally {
    lab.retire(run);
  }
}
