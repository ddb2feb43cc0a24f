/**
 * The least that a record of a call can cost: one row, inserted before it and updated after it, each a commit of its
 * own that is flushed like the ledger's, sent by the driver and nothing else. It has no guard, no try, no event and no
 * fingerprint; it stands in the benchmark so that a reader sees how much of an operation's cost no design can save.
 */
import pg from "pg";

export interface LeastJournal {
  /** Commits "about to send". */
  begin(key: string): Promise<void>;
  /** Commits "answered". */
  end(key: string): Promise<void>;
  close(): Promise<void>;
}

/** Makes its table in the database, and a pool of `poolSize` connections. */
export async function leastJournal(url: string, poolSize: number): Promise<LeastJournal> {
  const pool = new pg.Pool({ connectionString: url, max: poolSize });
  // The server is stopped right after the pool's end, which doesn't wait for its sockets.
  pool.on("error", () => undefined);
  await pool.query("create table least_journal (key text primary key, state text not null)");
  const begin = { name: "begin", text: "insert into least_journal (key, state) values ($1, 'sending')" };
  const end = { name: "end", text: "update least_journal set state = 'answered' where key = $1" };
  return {
    async begin(key) {
      await pool.query({ ...begin, values: [key] });
    },
    async end(key) {
      await pool.query({ ...end, values: [key] });
    },
    close: () => pool.end(),
  };
}
