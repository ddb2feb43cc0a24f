/** The outside actors of each run: who starts it, and who acts on what is seen until it has ended. */
import type { Told } from "../judge/evidence.js";
import type { CrashLabDefinition, LabProfile, Stage } from "../lab-definition.js";
import type { HeldRun } from "./held-run.js";

interface Acting {
  readonly stop: AbortController;
  /** What they were told, once there is nobody left to act for. */
  readonly done: Promise<readonly Told[]>;
}

/** Ten seconds with the shortest time-outs in use, which is what a server gives by itself. */
const patienceFactor = 5;

/**
 * In an undisturbed run nobody waits for a time-out, and one that passes on a busy machine would show as a second
 * delivery: a window that isn't there the next time.
 */
function patient(profile: LabProfile): LabProfile {
  return { ...profile, workflowTaskTimeoutMs: patienceFactor * profile.workflowTaskTimeoutMs };
}

export class Actors<Environment> {
  readonly #acting = new Map<HeldRun, Acting>();

  constructor(
    private readonly definition: Pick<CrashLabDefinition<Environment>, "stories">,
    private readonly environment: Environment,
    private readonly stage: Stage,
  ) {}

  /** Starts the run; from then on its other actors watch it. */
  async start(run: HeldRun): Promise<readonly Told[]> {
    const story = this.definition.stories[run.story]!;
    const stage = run.target ? this.stage : { ...this.stage, profile: patient(this.stage.profile) };
    const told = await story.start(this.environment, run.token, stage);
    if (!story.drive) return told;
    const stop = new AbortController();
    const done = story
      .drive(this.environment, run.token, stop.signal, stage)
      .then((answers) => answers ?? []);
    // Whoever ends the run sees the failure; until then it must not end this process.
    done.catch(() => undefined);
    this.#acting.set(run, { stop, done });
    return told;
  }

  /**
   * Rejects when an actor of the run fails while there is still something to act for; else it never settles. A story
   * whose reviewer can't act would only look stuck.
   */
  failure(run: HeldRun): Promise<never> {
    const acting = this.#acting.get(run);
    return new Promise((_resolve, reject) => {
      acting?.done.catch((error: unknown) => {
        if (!acting.stop.signal.aborted) reject(error as Error);
      });
    });
  }

  /** The run has ended. @returns what the actors were told */
  async end(run: HeldRun): Promise<readonly Told[]> {
    const acting = this.#acting.get(run);
    this.#acting.delete(run);
    if (!acting) return [];
    acting.stop.abort();
    // What an actor was in the middle of has nobody to be for any more.
    return acting.done.catch(() => []);
  }
}
