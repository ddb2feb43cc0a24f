import type { Instance } from "./instance.js";

/** Starts a process under test with taps of its own; in standby its polls wait in the taps. */
export type StartInstance = (name: string, options: StartOptions) => Promise<Instance>;

export interface StartOptions {
  readonly standby: boolean;
  /** Of the story that is played; see `Story.settings`. */
  readonly settings: string | undefined;
}

/**
 * For each process under test the instance that works now, and one in standby that has loaded everything and takes
 * over at once, so that the time a process needs to start is never part of a round.
 */
export class Slots {
  readonly #active = new Map<string, Instance>();
  readonly #standby = new Map<string, Promise<Instance>>();
  #settings: string | undefined;

  /** @param onActive told of each instance that begins to work */
  constructor(
    private readonly names: readonly string[],
    private readonly start: StartInstance,
    private readonly onActive: (instance: Instance) => void = () => undefined,
  ) {}

  /** @throws what the first process that can't be started throws */
  async open(settings?: string): Promise<void> {
    this.#settings = settings;
    for (const name of this.names) this.#begin(name, await this.start(name, { standby: false, settings }));
    for (const name of this.names) this.#prepare(name);
  }

  /** Has the processes run with these settings. Nothing may be under way in them. */
  async use(settings: string | undefined): Promise<void> {
    if (settings === this.#settings) return;
    await this.close();
    this.#active.clear();
    this.#standby.clear();
    await this.open(settings);
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
    next.activate();
    this.#begin(name, next);
    this.#prepare(name);
    await dead.close();
    return next;
  }

  async close(): Promise<void> {
    const standbys = await Promise.allSettled(this.#standby.values());
    const started = standbys.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    await Promise.all([...this.#active.values(), ...started].map((instance) => instance.stop()));
  }

  #begin(name: string, instance: Instance): void {
    this.#active.set(name, instance);
    this.onActive(instance);
  }

  #prepare(name: string): void {
    const standby = this.start(name, { standby: true, settings: this.#settings });
    // Whoever needs it sees the failure; until then it must not end this process as an unhandled rejection.
    standby.catch(() => undefined);
    this.#standby.set(name, standby);
  }
}
