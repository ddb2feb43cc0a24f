import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLedger, type Ledger } from "../../../adapters/ledger/database.js";
import { openRun, startPostgres, type ManagedProcess, type Run } from "../../../platform/index.js";
import { compiledEntry } from "../../../platform/package-root.js";

const callersFile = path.resolve("scenarios/invoice-approval/callers.development.json");
const policyFile = path.resolve("scenarios/invoice-approval/policy.production.json");

let run: Run;
let ledgerUrl: string;
let ledger: Ledger;

const program = (entry: string, env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [compiledEntry(entry)], { env: { ...process.env, ...env } });

beforeAll(async () => {
  run = await openRun({ name: "test-api", handleSignals: false });
  const postgres = await startPostgres(run, { name: "ledger" });
  ledgerUrl = await postgres.createDatabase("ledger");
  ledger = openLedger({ url: ledgerUrl, applicationName: "test", poolSize: 2 });
});

afterAll(async () => {
  await ledger?.destroy();
  await run?.close();
});

const settings = () => ({
  LEDGER_URL: ledgerUrl,
  API_CALLERS_FILE: callersFile,
  INVOICE_POLICY_FILE: policyFile,
});

function startApi(name: string): Promise<ManagedProcess> {
  return run.spawn({ name, entry: "services/api/main.js", env: settings() });
}

async function submit({ ready }: ManagedProcess, key: string) {
  const response = await fetch(`http://127.0.0.1:${String(ready["port"])}/api/invoice-batches`, {
    method: "POST",
    headers: {
      Authorization: "Bearer development-only-submitter",
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify({ invoices: [{ invoiceKey: "i-1", documentId: "i-1.xml" }] }),
  });
  return { status: response.status, body: (await response.json()) as { batchId: string } };
}

test("refuses a ledger that nobody has migrated, and the migration says what it did", async () => {
  await expect(program("services/api/main.js", settings())).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Run the migration of this version first") as unknown,
  });
  const first = JSON.parse((await program("services/migrate/main.js", settings())).stdout) as object;
  expect(first).toMatchObject({
    event: "migrated",
    applied: expect.arrayContaining(["0003-requests"]) as unknown,
  });
  const again = JSON.parse((await program("services/migrate/main.js", settings())).stdout) as object;
  expect(again).toMatchObject({ event: "migrated", applied: [] });
});

test("a batch that a killed API told of is there for the next one, and SIGTERM ends it cleanly", async () => {
  const first = await startApi("api-1");
  const told = await submit(first, "key");
  expect(told.status).toBe(202);
  await first.kill("SIGKILL");
  const second = await startApi("api-2");
  const repeated = await submit(second, "key");
  expect(repeated.body.batchId).toBe(told.body.batchId);
  const starts = await ledger.selectFrom("outbox").select("message_key").execute();
  expect(starts).toEqual([{ message_key: `start:invoice-batch:${told.body.batchId}` }]);
  second.kill("SIGTERM").catch(() => undefined);
  expect(await second.exited).toEqual({ code: 0, signal: null });
});

test("bad settings end it with one line and without a stack", async () => {
  await expect(program("services/api/main.js", { ...settings(), API_PORT: "none" })).rejects.toMatchObject({
    code: 2,
    stderr: 'API_PORT must be a port from 0 to 65535; 0 takes a free one; it is "none"\n',
  });
  const missing = path.resolve("none.json");
  await expect(
    program("services/api/main.js", { ...settings(), API_CALLERS_FILE: missing }),
  ).rejects.toMatchObject({ code: 2, stderr: expect.not.stringContaining("    at ") as unknown });
});
