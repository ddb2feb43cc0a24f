/** A bell that can be rung at any time, also while nobody waits: the next wait then ends at once. */
export class Bell {
  #rung = false;
  #ring: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#ring?.();
  }

  /** Until the bell rings, or for `ms`. One at a time. */
  async wait(ms: number): Promise<"rung" | "timeout"> {
    if (!this.#rung) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#ring = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
      this.#ring = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung ? "rung" : "timeout";
  }
}
