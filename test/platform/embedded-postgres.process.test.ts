import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  readFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withConnection } from "../../platform/database-server.js";
import { freePort, openRun, packageRoot, startPostgres, type Run } from "../../platform/index.js";
import { canRun, unprivilegedAccount } from "../../platform/postgres/account.js";
import { findBinaries, postgresPackage } from "../../platform/postgres/binaries.js";
import { processTable } from "../../platform/process-table.js";
import { withDescendants } from "../../platform/process-tree.js";
import { RunBench } from "./held-run.js";

const isRoot = process.getuid?.() === 0;
let folder: string;
let run: Run;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "killproof-postgres-test-"));
  run = await openRun({ name: "postgres", runsFolder: join(folder, "runs"), handleSignals: false });
});
afterEach(async () => {
  await run.close();
  rmSync(folder, { recursive: true });
});

const query = async (url: string, sql: string): Promise<unknown[]> =>
  withConnection(url, async (client) => (await client.query(sql)).rows);

test("what was committed is there after a kill and a restart, under the same URL; what wasn't is not", async () => {
  const postgres = await startPostgres(run, { name: "killed" });
  const url = await postgres.createDatabase("ledger");
  await query(url, "create table entry (id int)");
  await query(url, "insert into entry values (1)");

  const midTransaction = withConnection(url, async (client) => {
    await client.query("begin; insert into entry values (2)");
    await postgres.kill();
    await client.query("commit");
  });
  await expect(midTransaction).rejects.toThrow();
  await expect(query(url, "select 1")).rejects.toThrow(/ECONNREFUSED/);
  await postgres.restart();
  expect(await query(url, "select id from entry")).toEqual([{ id: 1 }]);
});

test("a kill ends every backend, a busy one too", async () => {
  const postgres = await startPostgres(run, { name: "busy" });
  const busy = withConnection(postgres.url, async (client) => {
    const sleeping = client.query("select pg_sleep(600)");
    // It fails while something else is awaited.
    sleeping.catch(() => undefined);
    const rows = async (): Promise<unknown[]> =>
      query(postgres.url, "select pid from pg_stat_activity where query = 'select pg_sleep(600)'");
    await expect.poll(rows).toHaveLength(1);
    const table = processTable();
    const tree = withDescendants(
      table.filter((row) => row.pid === postgres.pid),
      table,
    );
    expect(tree.length).toBeGreaterThan(5);
    await postgres.kill();
    const pids = new Set(tree.map((row) => row.pid));
    await expect.poll(() => processTable().filter((row) => pids.has(row.pid))).toEqual([]);
    await sleeping;
  });
  await expect(busy).rejects.toThrow();
});

test("settings can be overridden, and the server listens only where it should", async () => {
  const postgres = await startPostgres(run, { name: "settings", settings: { fsync: "off" } });
  expect(await query(postgres.url, "show fsync")).toEqual([{ fsync: "off" }]);
  expect(await query(postgres.url, "show listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
  const wrong = new URL(postgres.url);
  wrong.password = "guessed";
  await expect(query(wrong.href, "select 1")).rejects.toThrow(/password authentication failed/);
});

test("a port that was named and is taken is refused by name, and nothing is left", async () => {
  const port = await freePort();
  const holder = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  await expect(startPostgres(run, { name: "named", port })).rejects.toThrow(
    `port ${port} for Postgres named is taken on 127.0.0.1`,
  );
  await new Promise((resolve) => holder.close(resolve));
  const postgres = await startPostgres(run, { name: "named", port });
  expect(postgres.port).toBe(port);
});

/** The package as it arrives: without the links that its install script would make. */
function unlinkedPackage(parent: string): string {
  const source = postgresPackage().folder;
  const target = join(parent, "package");
  mkdirSync(target);
  cpSync(join(source, "package.json"), join(target, "package.json"));
  const filter = (path: string): boolean => !path.endsWith(".a");
  cpSync(join(source, "native"), join(target, "native"), { recursive: true, verbatimSymlinks: true, filter });
  const links = readFileSync(join(target, "native", "pg-symlinks.json"), "utf8");
  for (const { target: link } of JSON.parse(links) as { target: string }[]) {
    rmSync(join(target, link), { force: true });
  }
  return target;
}

test("missing library links are made in place", async () => {
  chmodSync(folder, 0o755);
  const packageFolder = unlinkedPackage(folder);
  expect(existsSync(join(packageFolder, "native", "lib", "libpq.so.5"))).toBe(false);
  const binaries = await findBinaries(await unprivilegedAccount(), { packageFolder, cacheFolders: [] });
  expect(binaries).toMatchObject({ copied: false, version: expect.stringMatching(/^\d+\.\d+$/) });
  expect(existsSync(join(packageFolder, "native", "lib", "libpq.so.5"))).toBe(true);
});

test.runIf(isRoot)(
  "root's Postgres runs from a copy when only root can reach the package; runs share it",
  async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const packageFolder = unlinkedPackage(closed);
    const unreachable = join(closed, "cache");
    const reachable = mkdtempSync(join(tmpdir(), "killproof-cache-"));
    try {
      chmodSync(reachable, 0o755);
      const options = { packageFolder, cacheFolders: [unreachable, reachable] };
      const account = await unprivilegedAccount();
      const both = await Promise.all([findBinaries(account, options), findBinaries(account, options)]);
      expect(both.map(({ copied, folder }) => ({ copied, parent: dirname(folder) }))).toEqual([
        { copied: true, parent: reachable },
        { copied: true, parent: reachable },
      ]);
      expect(readdirSync(reachable).filter((name) => name.startsWith("."))).toEqual([]);
      const postgres = await startPostgres(run, { name: "copied", ...options });
      expect(await query(postgres.url, "select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      await run.close();
      rmSync(reachable, { recursive: true });
      run = await openRun({ name: "postgres", runsFolder: join(folder, "runs"), handleSignals: false });
    }
  },
);

test("below a path that a shell would read otherwise, Postgres runs from a copy", async () => {
  const packageFolder = unlinkedPackage(mkdtempSync(join(folder, "a $x `b` ")));
  const cache = mkdtempSync(join(tmpdir(), "killproof-cache-"));
  try {
    chmodSync(cache, 0o755);
    const { folder: used } = await findBinaries(await unprivilegedAccount(), {
      packageFolder,
      cacheFolders: [cache],
    });
    expect(dirname(used)).toBe(cache);
  } finally {
    rmSync(cache, { recursive: true });
  }
});

test("when no place works, each is named with its reason", async () => {
  const packageFolder = join(folder, "package");
  mkdirSync(join(packageFolder, "native"), { recursive: true });
  cpSync(join(postgresPackage().folder, "package.json"), join(packageFolder, "package.json"));
  const cache = join(folder, "cache");
  await expect(findBinaries(undefined, { packageFolder, cacheFolders: [cache] })).rejects.toThrow(
    new RegExp(
      `can't run Postgres from any of these:\n +${packageFolder}/native: .*\n +${cache}/.*\n.*DATABASE_URL`,
    ),
  );
});

/** Root can become an ordinary user; whoever is one already has shown all this with every other test. */
const ordinary = isRoot ? await unprivilegedAccount() : undefined;
/** It can't where Node or this checkout lies in a folder that only root can enter; then the demo's check shows it. */
const readsCheckout = [
  process.execPath,
  "-e",
  "require('node:fs').accessSync(process.argv[1])",
  join(packageRoot(), "package.json"),
] as const;
const reachable = ordinary !== undefined && (await canRun(ordinary, readsCheckout)).ok;

test.runIf(reachable)("an ordinary user needs no rights: a whole run, from start to kill", async () => {
  const bench = new RunBench();
  try {
    chmodSync(bench.folder, 0o777);
    const { uid = 0, gid = 0 } = ordinary ?? {};
    const env = { HOME: bench.folder, XDG_CACHE_HOME: join(bench.folder, "cache") };
    const held = await bench.start(bench.command({ children: 1, database: true }), {
      env,
      uid,
      gid,
      cwd: bench.folder,
    });
    expect(await query(held.ready.databaseUrl ?? "", "select 1 as one")).toEqual([{ one: 1 }]);
    process.kill(held.ready.pid, "SIGKILL");
    await bench.expectGone(held);
  } finally {
    bench.dispose();
  }
});
