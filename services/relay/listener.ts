/** Listens for the outbox's notifications. They are only hints: a lost one costs a poll interval, never a message. */
import type pg from "pg";

import { ledgerClient, type LedgerOptions } from "../../adapters/ledger/database.js";

/** What the outbox's trigger notifies. */
export const outboxChannel = "ledger_outbox";

export interface ListenerOptions extends Pick<LedgerOptions, "url" | "applicationName"> {
  readonly onWake: () => void;
  readonly onLost?: (error: Error, retryAfterMs: number) => void;
}

const reconnectMsMin = 500;
const reconnectMsMax = 30_000;

/**
 * The wait before each further try to connect, in milliseconds: about 0.5, 1, 2, 4, 8, 16 and then 30 seconds, each
 * cut by up to half by chance, so that the relays of a restarted server don't all come at once.
 */
export function reconnectDelayMs(failures: number, random = Math.random()): number {
  const doubled = Math.min(reconnectMsMin * 2 ** Math.min(failures - 1, 20), reconnectMsMax);
  return Math.round(doubled * (1 - random / 2));
}

/**
 * Has a connection of its own, since one that listens can't come from a pool. A lost connection is made anew for as
 * long as the listener runs, and each new one rings once, as something may have been missed.
 */
export class OutboxListener {
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #failures = 0;
  #connecting: Promise<void> = Promise.resolve();

  constructor(private readonly options: ListenerOptions) {}

  /** Settles when the first try has; a failed one is repeated in the background. */
  start(): Promise<void> {
    this.#connecting = this.#connect();
    return this.#connecting;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#connecting;
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const client = ledgerClient(this.options);
    // A lost connection says "error", "end" or both; the first of them counts.
    const lost = (error: Error): void => {
      if (this.#client === client) {
        this.#client = undefined;
        this.#reconnect(error);
      }
    };
    client.on("error", lost);
    client.on("end", () => lost(new Error("the connection ended")));
    client.on("notification", () => this.options.onWake());
    this.#client = client;
    try {
      await client.connect();
      await client.query(`listen ${outboxChannel}`);
      this.#failures = 0;
      this.options.onWake();
    } catch (error) {
      lost(error as Error);
      await client.end().catch(() => undefined);
    }
  }

  #reconnect(error: Error): void {
    if (this.#stopped) {
      return;
    }
    this.#failures += 1;
    const delayMs = reconnectDelayMs(this.#failures);
    this.options.onLost?.(error, delayMs);
    this.#timer = setTimeout(() => {
      this.#connecting = this.#connect();
    }, delayMs);
  }
}
