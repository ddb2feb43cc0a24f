import type { BoundaryEvent, Decision } from "../taps/event.js";
import { forward } from "../taps/event.js";
import { meaningOf, type Verb } from "../verbs/verb.js";
import { otherSide, parseWindowName, WindowCounter, windowName } from "../windows/window-name.js";

/** Where a fault is to fall, or nothing for a golden run. */
export interface Target {
  readonly window: string;
  readonly verb: Verb;
}

/** Something a tap saw of this run, as evidence. */
export interface SeenEvent {
  readonly window: string;
  readonly event: BoundaryEvent;
}

/**
 * One run of a story, and the fault that waits for it.
 *
 * States: *travelling* (no event matched the target yet), *held* (the message is in the tap; only for verbs that
 * kill), *fired* (the fault is done), *disarmed* (too late for the fault), and whatever comes afterwards is recovery, in which nothing is held.
 */
export class HeldRun {
  /** At windows. */
  readonly seen: SeenEvent[] = [];
  /** All that the taps saw of it, also where there is no window, in the order of their arrival at the lab. */
  readonly events: BoundaryEvent[] = [];
  /** Messages of it that wait in a tap and were never passed on. */
  readonly withheld = new Set<BoundaryEvent>();
  /** Resolves with the held event when the run has arrived at its window. */
  readonly arrived: Promise<SeenEvent>;
  /** The event at which the fault fell. */
  at: SeenEvent | undefined;
  #arrive!: (seen: SeenEvent) => void;
  #release!: (decision: Decision) => void;
  readonly #released = new Promise<Decision>((resolve) => (this.#release = resolve));
  #fired = false;
  #armed = true;
  #slipped = false;
  /** The process that the fault is for. */
  readonly #victim: string | undefined;
  readonly #counter: WindowCounter;
  /** Both sides of one exchange belong to one ordinal. */
  readonly #exchanges = new Map<string, string>();

  constructor(
    readonly token: string,
    readonly story: string,
    readonly target: Target | undefined,
    /** Looks at something while the message waits, at each event of a run that nothing else holds. */
    private readonly inspect?: () => Promise<void>,
  ) {
    this.#counter = new WindowCounter(story);
    this.#victim = target && parseWindowName(target.window).process;
    this.arrived = new Promise((resolve) => (this.#arrive = resolve));
  }

  get reached(): boolean {
    return this.at !== undefined;
  }

  /**
   * The server lost patience while the message was held and gave the work out again, so the run has gone on beside
   * its hold and a kill now would not fall where it was meant to.
   */
  get slipped(): boolean {
    return this.#slipped;
  }

  get fired(): boolean {
    return this.#fired;
  }

  /** Names of the windows that the run came by, each once, in the order in which they were first seen. */
  windows(): string[] {
    return [...new Set(this.seen.map(({ window }) => window))];
  }

  /**
   * Decides about one event that carries this run's token.
   *
   * @param instance tells connections of successive processes with one name apart: an exchange is one of theirs
   */
  decide(event: BoundaryEvent, instance: string): Decision {
    if (this.at && !this.#fired && isSecondDelivery(event)) this.#slipped = true;
    this.events.push(event);
    if (event.noWindow !== null) return forward;
    const window = this.#windowOf(event, instance);
    const seen = { window, event };
    this.seen.push(seen);
    if (this.#frozen && event.process === this.#victim && event.access === "write" && event.side === "before")
      return this.#hold(event);
    if (this.inspect) return { do: "hold", until: this.inspect().then(() => forward) };
    if (!this.#armed || this.target?.window !== window || this.at) return forward;
    this.at = seen;
    this.#arrive(seen);
    if (!meaningOf(this.target.verb).kills) {
      this.#fired = true;
      return { do: "drop" };
    }
    return this.#hold(event);
  }

  /** It is too late for this round's fault; should the run come to its window now, it goes on. */
  disarm(): void {
    this.#armed = false;
  }

  /** Ends the hold after the kill: what was held never goes on. */
  drop(): void {
    this.#fired ||= this.reached;
    this.#release({ do: "drop" });
  }

  /**
   * Held, and the kill is still to come. Where only an answer is withheld, the server has gone on and hands the next
   * task to the same process; the same is true of a child beside its held parent. Whatever the victim would change
   * outside waits too, so that the kill finds it at its window and nowhere further. Work may still be handed out: it
   * changes nothing outside, and a poll that waited would be missing to the other runs. What other processes do for
   * the run goes on: they live, and a message that was taken from them would be a second fault.
   */
  get #frozen(): boolean {
    return this.at !== undefined && !this.#fired && this.#armed;
  }

  #hold(event: BoundaryEvent): Decision {
    if (event.side === "before") this.withheld.add(event);
    return { do: "hold", until: this.#released };
  }

  #windowOf(event: BoundaryEvent, instance: string): string {
    const exchange = JSON.stringify([instance, event.process, event.tap, event.exchange]);
    const known = this.#exchanges.get(exchange);
    if (known !== undefined && event.side === "after") {
      this.#exchanges.delete(exchange);
      return known;
    }
    const window = this.#counter.next(event, event.side);
    if (event.side === "before") this.#exchanges.set(exchange, windowName(otherSide(window)));
    return windowName(window);
  }
}

const isSecondDelivery = ({ details }: BoundaryEvent): boolean =>
  details.kind === "temporal" && details.delivered.some(({ attempt }) => attempt > 1);
