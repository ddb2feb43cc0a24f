/** The world as the process that stories start: ready line, settings, restart on its data, graceful end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccountingProvider } from "../../../adapters/providers/index.js";
import {
  openRun,
  packageRoot,
  startPostgres,
  type PostgresInstance,
  type Run,
} from "../../../platform/index.js";
import { startWorldProcess } from "../../../scenarios/world/process.js";

let run: Run;
let postgres: PostgresInstance;
beforeAll(async () => {
  run = await openRun({ name: "test-world", handleSignals: false });
  postgres = await startPostgres(run, { name: "world" });
});
afterAll(() => run.close());

const policy = { honoursKeys: true, keysLiveForMs: null, canFind: true, settleMs: 1, parkAfterMs: 1 };
const request = {
  invoiceKey: "acme:r1",
  revision: 1,
  supplierId: "s",
  invoiceNumber: "n",
  currency: "EUR",
  amountMinor: 1,
  payloadDigest: "d",
};

test("killed with a request under way, it is back with what it had committed and nothing else", async () => {
  const databaseUrl = await postgres.createDatabase("world");
  const first = await startWorldProcess(run, { databaseUrl });
  const signal = new AbortController().signal;
  const context = { providerKey: "k-r1", signal };
  await first.control.tellFault({ kind: "lateCommit", system: "accounting", run: "r2", ms: 600_000 });
  const client = createAccountingProvider({ ...first.accounting, timeoutMs: 15_000, policy });
  expect(await client.send(request, context)).toMatchObject({ outcome: "done" });
  const underWay = client.send({ ...request, invoiceKey: "acme:r2" }, { providerKey: "k-r2", signal });
  await first.journal.until(({ kind }) => kind === "received", { run: "r2", timeoutMs: 15_000 });
  expect(await first.process.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
  expect(await underWay).toMatchObject({ outcome: "unknown" });

  const second = await startWorldProcess(run, { databaseUrl });
  const again = createAccountingProvider({ ...second.accounting, timeoutMs: 15_000, policy });
  expect(await again.send(request, context)).toMatchObject({ outcome: "done" });
  expect(await second.journal.postingsOf("acme:r1")).toHaveLength(1);
  expect((await second.journal.read({ run: "r2" })).map(({ kind }) => kind)).toEqual(["received"]);
  expect(await second.process.stop()).toMatchObject({ code: 0 });
});

test("bad settings: one line per variable, exit code 2, no stack", async () => {
  const world = spawn(process.execPath, [join(packageRoot(), "dist/services/world/main.js")], {
    env: { WORLD_MAIL_PORT: "web", WORLD_DATABASE_URL: "postgresql://u:hunter2@127.0.0.1/world" },
  });
  let said = "";
  world.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(world, "close")) as [number];
  expect(code).toBe(2);
  expect(said.trim().split("\n")).toEqual([
    ...["ACCOUNTING_API_KEY", "DOCUMENTS_API_KEY", "MAIL_API_KEY", "CONTROL_TOKEN", "JUDGE_TOKEN"].map(
      (name) => `WORLD_${name} must be a secret of at least 16 characters; it is not set`,
    ),
    'WORLD_MAIL_PORT must be a port from 0 to 65535; 0 takes a free one; it is "web"',
  ]);
});
