/** A folder of real invoices through every process: submit, API, relay, Temporal, worker, accounting. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRun, type Run } from "../../../platform/index.js";
import {
  directPeers,
  startInvoiceEnvironment,
  workerEntries,
  workerSpec,
  type InvoiceEnvironment,
} from "../../../scenarios/invoice-approval/environment.js";
import { keyOf, people } from "../../services/api/api-rig.js";
import { spawnApi } from "../../services/api/process-rig.js";
import { folderWith } from "./folder.js";

let run: Run;
let environment: InvoiceEnvironment;
beforeAll(async () => {
  run = await openRun({ name: "test-submit", handleSignals: false });
  environment = await startInvoiceEnvironment(run);
});
afterAll(() => run?.close());

const taskQueue = "submit";
/** None of them is for a reviewer to look at; the last one's sums are wrong. */
const expected: Readonly<Record<string, string>> = {
  "office-supplies.ubl.xml": "posted",
  "hosting.cii.xml": "posted",
  "cleaning.pdf": "posted",
  "sum-wrong.ubl.xml": "rejected",
};

test("each invoice is handed in, read and posted or rejected, and the command says which", async () => {
  const files: Record<string, Buffer> = {};
  for (const name of Object.keys(expected)) {
    files[name] = await readFile(join("scenarios", "invoice-approval", "files", name));
    const mediaType = extname(name) === ".pdf" ? "application/pdf" : "application/xml";
    await environment.world.control.putDocument(name, mediaType, files[name]);
  }
  const { ledgerUrl, temporal, world } = environment;
  const api = await spawnApi(run, {
    name: "api",
    ledgerUrl,
    callers: people,
    settings: { TEMPORAL_TASK_QUEUE: taskQueue },
  });
  await run.spawn({
    name: "relay",
    entry: "services/relay/main.js",
    env: {
      LEDGER_URL: ledgerUrl,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MAIL_URL: world.mail.baseUrl,
      MAIL_API_KEY: world.mail.apiKey,
    },
  });
  const peers = directPeers(environment);
  await run.spawn(workerSpec(environment, { entry: workerEntries.safe, name: "worker", taskQueue, peers }));

  const submit = await run.spawn({
    name: "submit",
    entry: "cli/main.js",
    args: ["submit", await folderWith(files), "--batch-size", "3", "--wait"],
    env: { KILLPROOF_API_URL: api.url, KILLPROOF_API_KEY: keyOf("sue") },
    ready: "spawned",
  });
  // One was rejected.
  expect(await submit.exited).toEqual({ code: 1, signal: null });
  const told = await readFile(submit.logFile, "utf8");
  for (const [name, outcome] of Object.entries(expected)) {
    expect(told).toMatch(new RegExp(`^ {2}${outcome} +${name.replaceAll(".", "\\.")} {2}\\S`, "m"));
    const postings = await world.journal.postingsOf(name.slice(0, -extname(name).length));
    expect(postings, name).toHaveLength(outcome === "posted" ? 1 : 0);
  }
  expect(told).toContain("2 of 2 batches handed in.");
  expect(told).not.toContain(keyOf("sue"));
});
