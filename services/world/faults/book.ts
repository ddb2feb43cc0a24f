/**
 * The faults in force. They are kept in memory: a world that is started again is a healthy one, and the story
 * tells it again what it should suffer from.
 */
import {
  carriesToken,
  operationsOfKind,
  type Fault,
  type FaultKind,
  type Operation,
  type System,
} from "./fault.js";

type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>;

/** The faults that touch one request: at most one of each kind, so combinations are well defined. */
export type FaultsInForce = { readonly [Kind in FaultKind]?: FaultOf<Kind> };

export interface ToldFault {
  readonly id: number;
  readonly fault: Fault;
  /** How many requests it has touched. */
  readonly fired: number;
  /** How many it still will, `null` for any number. */
  readonly remaining: number | null;
}

interface Entry {
  readonly id: number;
  readonly fault: Fault;
  readonly toldAtMs: number;
  fired: number;
}

export class FaultBook {
  readonly #entries: Entry[] = [];
  #lastId = 0;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  tell(fault: Fault): ToldFault {
    this.#lastId += 1;
    const entry = { id: this.#lastId, fault, toldAtMs: this.now(), fired: 0 };
    this.#entries.push(entry);
    return describe(entry);
  }

  /** Takes the faults for one request and counts them as fired: of each kind, the one told first. */
  take(request: { system: System; operation: Operation; key: string }): FaultsInForce {
    const taken: Partial<Record<FaultKind, Fault>> = {};
    for (const entry of this.#entries) {
      if (taken[entry.fault.kind] !== undefined || !this.#touches(entry, request)) continue;
      entry.fired += 1;
      taken[entry.fault.kind] = entry.fault;
    }
    return taken as FaultsInForce;
  }

  list(run?: string): ToldFault[] {
    return this.#entries.filter(({ fault }) => run === undefined || fault.run === run).map(describe);
  }

  /** @returns false when there is no such fault (any more). */
  remove(id: number): boolean {
    const index = this.#entries.findIndex((entry) => entry.id === id);
    if (index >= 0) this.#entries.splice(index, 1);
    return index >= 0;
  }

  /** @returns how many there were. */
  removeRun(run: string): number {
    const before = this.#entries.length;
    const kept = this.#entries.filter(({ fault }) => fault.run !== run);
    this.#entries.splice(0, before, ...kept);
    return before - kept.length;
  }

  #touches(entry: Entry, request: { system: System; operation: Operation; key: string }): boolean {
    const { fault } = entry;
    if (fault.system !== request.system) return false;
    if (fault.operation !== undefined && fault.operation !== request.operation) return false;
    if (!(operationsOfKind[fault.kind] as readonly Operation[]).includes(request.operation)) return false;
    if (fault.times !== undefined && entry.fired >= fault.times) return false;
    if (
      fault.kind === "unavailable" &&
      fault.forMs !== undefined &&
      this.now() - entry.toldAtMs >= fault.forMs
    )
      return false;
    return carriesToken(request.key, fault.run);
  }
}

function describe({ id, fault, fired }: Entry): ToldFault {
  return { id, fault, fired, remaining: fault.times === undefined ? null : fault.times - fired };
}
