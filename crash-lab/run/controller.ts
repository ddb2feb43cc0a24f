import type { BoundaryEvent, Decision, TapController, TapNote } from "../taps/event.js";
import { forward } from "../taps/event.js";
import type { HeldRun } from "./held-run.js";
import type { StoryDecision } from "./story-holds.js";

/** An event that belongs to nobody: a boundary that can't be tested. */
export interface StrayEvent {
  readonly process: string;
  readonly tap: string;
  readonly label: string;
  /** A token that no run of this lab has; `null` when it carries none. */
  readonly token: string | null;
}

/** What is known of one started process, kept by whoever starts and ends it. */
export interface InstanceRecord {
  /** `worker#3`. */
  readonly id: string;
  state: "standby" | "active" | "dead";
  /** The database's own processes that served it, as far as it did anything there. */
  readonly backendPids: Set<number>;
}

/**
 * Leads each event to the run whose token it carries, so that many runs are held at once, each at its own window.
 *
 * It steers nothing by itself. An event of several runs (a claim that returned rows of each) is put before all of
 * them, and a fault wanted by one of them falls on the whole message; the others lose nothing that they would not
 * lose by the same crash.
 */
export class LabController {
  readonly strays: StrayEvent[] = [];
  readonly faults: string[] = [];
  /** Every event that was seen, of any run, for counting against what the outside systems saw. */
  readonly events: BoundaryEvent[] = [];
  readonly #runs = new Map<string, HeldRun>();
  readonly #retired = new Set<string>();

  /** @param ofStory what the story itself makes wait; a fault comes first */
  constructor(private readonly ofStory: StoryDecision = () => forward) {}

  add(run: HeldRun): void {
    this.#runs.set(run.token, run);
  }

  /** The run is judged; what still comes of it is let through and belongs to no evidence. */
  retire(run: HeldRun): void {
    this.#runs.delete(run.token);
    this.#retired.add(run.token);
  }

  /** The controller for the taps of one process instance. */
  forInstance(instance: InstanceRecord): TapController {
    return {
      decide: (event) => {
        const { details, runTokens } = event;
        if (details.kind === "postgres" && details.backendPid !== null)
          instance.backendPids.add(details.backendPid);
        // Two processes would share the work, and the kill of one would test nothing of what the other does.
        if (instance.state === "standby" && runTokens.length > 0)
          this.faults.push(`${instance.id} is a standby and took work: ${event.label}`);
        return this.#decide(event, instance.id);
      },
      note: (note, process, tap) => this.#note(note, process, tap),
    };
  }

  #decide(event: BoundaryEvent, instance: string): Decision {
    this.events.push(event);
    if (event.attribution === "unattributed") this.#stray(event, null);
    let decision: Decision = forward;
    for (const token of event.runTokens) {
      const run = this.#runs.get(token);
      if (run === undefined) {
        if (!this.#retired.has(token)) this.#stray(event, token);
        continue;
      }
      const fault = run.decide(event, instance);
      const wanted = fault.do === "forward" ? this.ofStory(run, event) : fault;
      if (wanted.do !== "forward") decision = wanted;
    }
    return decision;
  }

  #stray({ process, tap, label, side }: BoundaryEvent, token: string | null): void {
    // Both sides of one message would count it twice.
    if (token === null && side === "before") return;
    this.strays.push({ process, tap, label, token });
  }

  #note(note: TapNote, process: string, tap: string): void {
    if (note.note === "fault") this.faults.push(`${process}/${tap}: ${note.reason}`);
  }
}
