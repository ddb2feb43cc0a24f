/** A controller that remembers every event and lets each go on, unless a test says otherwise. */
import type { BoundaryEvent, Decision, TapController, TapNote } from "../../../crash-lab/taps/event.js";
import { forward } from "../../../crash-lab/taps/event.js";

type Rule = (event: BoundaryEvent) => Decision | Promise<Decision> | undefined;

export class Recorder implements TapController {
  readonly events: BoundaryEvent[] = [];
  readonly notes: TapNote[] = [];
  /** Asked for each event; undefined means forward. */
  rule: Rule = () => undefined;
  private waiting: { matches: (event: BoundaryEvent) => boolean; resolve: (event: BoundaryEvent) => void }[] =
    [];

  decide(event: BoundaryEvent): Decision | Promise<Decision> {
    this.events.push(event);
    for (const one of this.waiting.filter(({ matches }) => matches(event))) one.resolve(event);
    this.waiting = this.waiting.filter(({ matches }) => !matches(event));
    return this.rule(event) ?? forward;
  }

  note(note: TapNote): void {
    this.notes.push(note);
  }

  /** The next event that matches; it is seen by its rule as well. */
  next(matches: (event: BoundaryEvent) => boolean): Promise<BoundaryEvent> {
    return new Promise((resolve) => this.waiting.push({ matches, resolve }));
  }

  /** Holds the next event that matches. `arrived` resolves when it is held, `release` lets it go on. */
  hold(matches: (event: BoundaryEvent) => boolean, outlivesClient = false) {
    let release!: (decision: Decision) => void;
    const until = new Promise<Decision>((resolve) => (release = resolve));
    const arrived = this.next(matches);
    const before = this.rule;
    this.rule = (event) => {
      if (!matches(event)) return before(event);
      this.rule = before;
      return { do: "hold", until, outlivesClient };
    };
    return { arrived, release: (decision: Decision = forward) => release(decision) };
  }

  /** Does something to the next event that matches, once. */
  once(matches: (event: BoundaryEvent) => boolean, decision: Decision): void {
    const before = this.rule;
    this.rule = (event) => {
      if (!matches(event)) return before(event);
      this.rule = before;
      return decision;
    };
  }

  faults(): string[] {
    return this.notes.flatMap((note) => (note.note === "fault" ? [note.reason] : []));
  }

  of(side: BoundaryEvent["side"]): BoundaryEvent[] {
    return this.events.filter((event) => event.side === side);
  }
}
