/**
 * Work that the world has taken on, open requests included. A commit that was promised for later happens even though its client is gone,
 * so the process may not end before it: on a graceful stop all waits are cut short and the work is awaited.
 */
export class Work {
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /** Aborted when the world begins to stop. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Keeps hold of the work until it has ended, and gives its result. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = () => this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Waits that long, or until the world stops. */
  delay(ms: number): Promise<void> {
    if (ms <= 0 || this.closing.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.closing.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.closing.addEventListener("abort", done, { once: true });
    });
  }

  /**
   * Cuts all waits short and returns when nothing is under way any more, or after `withinMs`. Failures belong to
   * their own callers.
   *
   * @returns whether everything has ended.
   */
  async finish(withinMs: number): Promise<boolean> {
    this.#closing.abort();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<"late">((resolve) => {
      timer = setTimeout(resolve, withinMs, "late");
    });
    // Work may begin more work, so what is under way is looked at again until there is none.
    const ended = async () => {
      while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    };
    const outcome = await Promise.race([ended(), limit]);
    clearTimeout(timer);
    return outcome !== "late";
  }
}
