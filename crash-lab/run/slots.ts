import type { Instance } from "./instance.js";

/** Starts a process under test with taps of its own; in standby its polls wait in the taps. */
export type StartInstance = (name: string, options: { readonly standby: boolean }) => Promise<Instance>;

/**
 * For each process under test the instance that works now, and one in standby that has loaded everything and takes
 * over at once, so that the time a process needs to start is never part of a round.
 */
export class Slots {
  readonly #active = new Map<string, Instance>();
  readonly #standby = new Map<string, Promise<Instance>>();

  constructor(
    private readonly names: readonly string[],
    private readonly start: StartInstance,
  ) {}

  /** @throws what the first process that can't be started throws */
  async open(): Promise<void> {
    for (const name of this.names) this.#active.set(name, await this.start(name, { standby: false }));
    for (const name of this.names) this.#prepare(name);
  }

  active(name: string): Instance {
    const instance = this.#active.get(name);
    if (!instance) throw new Error(`no process "${name}" is under test; there are ${this.names.join(", ")}`);
    return instance;
  }

  all(): readonly Instance[] {
    return [...this.#active.values()];
  }

  /** Puts the standby in the place of a dead instance. */
  async replace(name: string): Promise<Instance> {
    const dead = this.active(name);
    const next = await this.#standby.get(name)!;
    this.#active.set(name, next);
    next.activate();
    this.#prepare(name);
    await dead.close();
    return next;
  }

  async close(): Promise<void> {
    const standbys = await Promise.allSettled(this.#standby.values());
    const started = standbys.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    await Promise.all([...this.#active.values(), ...started].map((instance) => instance.stop()));
  }

  #prepare(name: string): void {
    const standby = this.start(name, { standby: true });
    // Whoever needs it sees the failure; until then it must not end this process as an unhandled rejection.
    standby.catch(() => undefined);
    this.#standby.set(name, standby);
  }
}
