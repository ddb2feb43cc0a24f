/**
 * The part that all taps share: number events, ask the controller, and carry a hold to its end.
 */
import type { Attribution, BoundaryEvent, Decision, Side, TapController, TapNote } from "./event.js";

/** Labels that a lab definition declares to be service traffic: exact, or a pattern for the whole label. */
export type ServiceLabel = string | RegExp;

export type EventDraft = Omit<BoundaryEvent, "process" | "tap" | "sequence" | "at" | "attribution"> & {
  /** Forces `service`, for traffic that is known to belong to no run. */
  readonly service?: boolean;
};

/** A decision after all waiting. */
export type Ruling = Exclude<Decision["do"], "hold">;

/** When the process at the other end of the connection went away. */
export class Departure {
  private resolve!: () => void;
  readonly gone: Promise<void> = new Promise((resolve) => (this.resolve = resolve));
  private hasGone = false;

  get isGone(): boolean {
    return this.hasGone;
  }

  announce(): void {
    this.hasGone = true;
    this.resolve();
  }
}

export interface HoldListener {
  /** A hold began that goes on when the process is gone: keep what is needed to forward the message later. */
  outliving(): void;
}

const applicable: Record<Side, ReadonlySet<Ruling>> = {
  before: new Set(["forward", "drop", "drop-answer", "reset"]),
  after: new Set(["forward", "drop", "reset"]),
};

export class Observer {
  private exchanges = 0;
  private sequence = 0;
  private readonly services = new Map<string, number>();

  constructor(
    readonly process: string,
    readonly tap: string,
    private readonly controller: TapController,
    private readonly serviceLabels: readonly ServiceLabel[] = [],
    /** Decisions that this tap can also carry out, by side. */
    private readonly extra: Partial<Record<Side, readonly Ruling[]>> = {},
  ) {}

  /** A number for a new exchange, shared by its two events. */
  nextExchange(): number {
    this.exchanges += 1;
    return this.exchanges;
  }

  note(note: TapNote): void {
    this.controller.note?.(note, this.process, this.tap);
  }

  fault(reason: string): void {
    this.note({ note: "fault", reason });
  }

  /** Counts a message that is known to be service traffic and isn't put before the controller. */
  countService(label: string): void {
    this.services.set(label, (this.services.get(label) ?? 0) + 1);
  }

  /** How often each kind of service traffic was seen. */
  serviceCounts(): Record<string, number> {
    return Object.fromEntries([...this.services].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Reports the event and waits until the controller lets it go on. */
  async rule(draft: EventDraft, departure: Departure, listener?: HoldListener): Promise<Ruling> {
    const event = this.eventFrom(draft);
    let decision = await this.ask(event, departure);
    while (decision.do === "hold") {
      if (decision.outlivesClient === true) {
        listener?.outliving();
        decision = await decision.until;
      } else {
        decision = await Promise.race([
          decision.until,
          departure.gone.then((): Decision => ({ do: "drop" })),
        ]);
      }
    }
    return this.fitting(event, decision.do);
  }

  private async ask(event: BoundaryEvent, departure: Departure): Promise<Decision> {
    try {
      const decision = this.controller.decide(event);
      // Most are decided at once, and each race would leave a trace at the departure for as long as it lasts.
      if (!(decision instanceof Promise)) return decision;
      return await Promise.race([decision, departure.gone.then((): Decision => ({ do: "drop" }))]);
    } catch (error) {
      this.fault(`the controller failed at ${event.label} ${event.side}: ${messageOf(error)}`);
      return { do: "forward" };
    }
  }

  private fitting(event: BoundaryEvent, ruling: Ruling): Ruling {
    if (applicable[event.side].has(ruling) || this.extra[event.side]?.includes(ruling) === true)
      return ruling;
    this.fault(
      `"${ruling}" can't be done at ${this.tap} ${event.label} ${event.side}; the message was forwarded`,
    );
    return "forward";
  }

  private eventFrom({ service, ...draft }: EventDraft): BoundaryEvent {
    this.sequence += 1;
    const attribution = this.attribute(draft.label, draft.runTokens, service === true);
    if (attribution === "service") this.countService(draft.label);
    return {
      process: this.process,
      tap: this.tap,
      sequence: this.sequence,
      at: Date.now(),
      attribution,
      ...draft,
    };
  }

  private attribute(label: string, tokens: readonly string[], service: boolean): Attribution {
    if (tokens.length > 0) return "run";
    return service || this.isDeclaredService(label) ? "service" : "unattributed";
  }

  private isDeclaredService(label: string): boolean {
    return this.serviceLabels.some((one) =>
      typeof one === "string" ? one === label : label.replace(one, "") === "",
    );
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
