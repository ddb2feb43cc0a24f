/** The database's own processes behind the victim's connections: they must have ended before anyone takes over. */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/** The server notices a broken connection within milliseconds; it offers nothing to wait on, so it is asked. */
const askAgainMs = 5;

export class Backends {
  private constructor(private readonly clients: readonly pg.Client[]) {}

  /** @param urls of the databases behind the taps; the lab's own connections to them aren't tapped */
  static async open(urls: readonly string[]): Promise<Backends> {
    const clients = urls.map(
      (connectionString) => new pg.Client({ connectionString, application_name: "killproof-lab" }),
    );
    await Promise.all(clients.map((client) => client.connect()));
    // A server that a fault takes down breaks this connection too; the next question says so.
    for (const client of clients) client.on("error", () => undefined);
    return new Backends(clients);
  }

  /** Resolves with true when no server has a backend with one of these process ids any more. */
  async gone(pids: readonly number[]): Promise<boolean> {
    if (pids.length === 0) return true;
    for (const client of this.clients) {
      while (await this.#anyAlive(client, pids)) await delay(askAgainMs);
    }
    return true;
  }

  async #anyAlive(client: pg.Client, pids: readonly number[]): Promise<boolean> {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where pid = any($1::int[]) limit 1",
      [pids],
    );
    return rowCount !== 0;
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.end()));
  }
}
