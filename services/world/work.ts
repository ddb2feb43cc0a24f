/**
 * Work that the world has taken on. A commit that was promised for later happens even though its client is gone,
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

  /** Cuts all waits short and returns when nothing is under way any more. Failures belong to their own callers. */
  async finish(): Promise<void> {
    this.#closing.abort();
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }
}
