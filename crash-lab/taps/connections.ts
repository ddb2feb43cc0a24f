/**
 * The client connections of one tap, counted by generation, so that the lab waits for "the victim's connections
 * are broken" or "a new process has connected" instead of sleeping.
 */
import type { ConnectionInfo, TapNote } from "./event.js";

export interface ConnectionCounts {
  /** All that ever opened; the newest has this generation. */
  readonly opened: number;
  readonly open: readonly ConnectionInfo[];
}

export class ConnectionBook {
  private opened = 0;
  private readonly open = new Map<number, ConnectionInfo>();
  private waiting: { readonly met: () => boolean; readonly resolve: () => void }[] = [];

  constructor(private readonly report: (note: TapNote) => void) {}

  add(clientPort: number): ConnectionInfo {
    this.opened += 1;
    const connection = { generation: this.opened, clientPort };
    this.open.set(connection.generation, connection);
    this.report({ note: "connection-opened", connection });
    this.settle();
    return connection;
  }

  remove(connection: ConnectionInfo): void {
    if (!this.open.delete(connection.generation)) return;
    this.report({ note: "connection-closed", connection });
    this.settle();
  }

  counts(): ConnectionCounts {
    return { opened: this.opened, open: [...this.open.values()] };
  }

  /** Resolves as soon as no client connection is open. */
  whenNoneOpen(): Promise<void> {
    return this.when(() => this.open.size === 0);
  }

  /** Resolves as soon as the connection of this generation has been opened. */
  whenOpened(generation: number): Promise<void> {
    return this.when(() => this.opened >= generation);
  }

  private when(met: () => boolean): Promise<void> {
    if (met()) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ met, resolve }));
  }

  private settle(): void {
    const [met, unmet] = [this.waiting.filter((one) => one.met()), this.waiting.filter((one) => !one.met())];
    this.waiting = unmet;
    for (const one of met) one.resolve();
  }
}
