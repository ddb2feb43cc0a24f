import type { Instance } from "./instance.js";

/** Starts a process under test with taps of its own; in standby its polls wait in the taps. */
export type StartInstance = (name: string, options: StartOptions) => Promise<Instance>;

export interface StartOptions {
  readonly standby: boolean;
  /** Of the story that is played; see `Story.settings`. */
  readonly settings: string | undefined;
}

/** Which processes a story needs. */
export interface Cast {
  readonly settings: string | undefined;
  readonly names: readonly string[];
  /** Those of the names that will be killed; only they need somebody in standby. */
  readonly victims: readonly string[];
}

/**
 * For each process under test the instance that works now, and for each victim one in standby that has loaded
 * everything and takes over at once, so that the time a process needs to start is never part of a round.
 */
export class Slots {
  readonly #active = new Map<string, Instance>();
  readonly #standby = new Map<string, Promise<Instance>>();
  #cast: Cast = { settings: undefined, names: [], victims: [] };

  /** @param onActive told of each instance that begins to work */
  constructor(
    private readonly start: StartInstance,
    private readonly onActive: (instance: Instance) => void = () => undefined,
  ) {}

  /**
   * Has these processes run, and nothing else. Nothing may be under way in them.
   *
   * @throws what the first process that can't be started throws
   */
  async use(cast: Cast): Promise<void> {
    if (JSON.stringify(cast) === JSON.stringify(this.#cast)) return;
    const standbys = await Promise.allSettled(this.#standby.values());
    const started = standbys.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    // Nobody is in the middle of anything, so none of them needs the time to drain.
    await Promise.all([...this.#active.values(), ...started].map((instance) => instance.discard()));
    this.#active.clear();
    this.#standby.clear();
    this.#cast = cast;
    await this.#open(cast);
  }

  async #open({ names, settings }: Cast): Promise<void> {
    const starting = names.map((name) => this.start(name, { standby: false, settings }));
    // All of them are awaited, so that what still starts is known before anything is ended.
    for (const [at, started] of (await Promise.allSettled(starting)).entries())
      if (started.status === "fulfilled") this.#begin(names[at]!, started.value);
    await Promise.all(starting);
    for (const name of names) this.#prepare(name);
  }

  active(name: string): Instance {
    const instance = this.#active.get(name);
    if (!instance)
      throw new Error(`no process "${name}" is under test; there are ${this.#cast.names.join(", ")}`);
    return instance;
  }

  all(): readonly Instance[] {
    return [...this.#active.values()];
  }

  /** Puts the standby in the place of a dead instance. */
  async replace(name: string): Promise<Instance> {
    const dead = this.active(name);
    const next = await this.#standby.get(name);
    if (next === undefined)
      throw new Error(`no story has "${name}" as its victim, so nobody is in its standby`);
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
    const { victims, settings } = this.#cast;
    if (!victims.includes(name)) return;
    const standby = this.start(name, { standby: true, settings });
    // Whoever needs it sees the failure; until then it must not end this process as an unhandled rejection.
    standby.catch(() => undefined);
    this.#standby.set(name, standby);
  }
}
