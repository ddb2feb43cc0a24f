/** The ledger's server stopped under a running API, and started again. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { invoices, keyOf, people } from "./api-rig.js";
import { ask, processRig, spawnApi } from "./process-rig.js";

const rig = processRig();

test("503 while it is away, the same key goes through when it is back, and nothing secret is told or logged", async () => {
  const api = await spawnApi(rig.run, { name: "api", ledgerUrl: rig.ledgerUrl, callers: people });
  const submit = (key: string, invoiceKey: string) =>
    ask(`${api.url}/api/invoice-batches`, keyOf("sue"), {
      method: "POST",
      headers: { "Idempotency-Key": key },
      body: JSON.stringify(invoices(invoiceKey)),
    });
  // Its pool has connections now, some of which will be lost while idle.
  const first = await submit("before", "invoice-before");
  expect(first?.status).toBe(202);
  await rig.postgres.kill();

  const told: unknown[] = [];
  for (const answer of [
    await submit("away", "invoice-away"),
    await ask(`${api.url}/api/invoice-batches/${String(first?.body["batchId"])}`, keyOf("sue")),
    await ask(`${api.url}/api/reviews`, keyOf("ann")),
    await ask(`${api.url}/healthz`, "nobody"),
  ]) {
    expect(answer).toMatchObject({
      status: 503,
      body: { type: "urn:problem-type:killproof:LedgerUnavailable", status: 503, retryable: true },
    });
    told.push(answer?.body);
  }
  // Who may not call is told so all the same: that needs no ledger.
  expect((await ask(`${api.url}/api/reviews`, "nobody"))?.status).toBe(401);

  await rig.postgres.restart();
  expect((await submit("away", "invoice-away"))?.status).toBe(202);
  expect((await submit("before", "invoice-before"))?.body["batchId"]).toBe(first?.body["batchId"]);
  const { count } = await rig.ledger
    .selectFrom("requests")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  expect(count).toBe(2);

  await api.process.stop();
  const log = await readFile(api.process.logFile, "utf8");
  const { password } = new URL(rig.ledgerUrl);
  expect(password.length).toBeGreaterThan(7);
  // The loss is in the log, and neither there nor in an answer is a secret, an address or a statement.
  expect(log).toContain("a connection to the ledger was lost");
  for (const text of [log, JSON.stringify(told)]) {
    expect(text).not.toContain(password);
    expect(text).not.toContain("key-of-");
    expect(text).not.toContain("invoice-away");
  }
  expect(JSON.stringify(told)).not.toMatch(/127\.0\.0\.1|select|insert/);
});
