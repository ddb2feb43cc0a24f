import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";

import { afterEach, expect, test } from "vitest";

import { listEvents } from "../../../../adapters/ledger/operations/list-events.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();
const performer = fileURLToPath(
  new URL("../../../../dist/test/support/operation/performer.js", import.meta.url),
);
const children: ChildProcess[] = [];
let server: Server | undefined;

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  server?.closeAllConnections();
  server?.close();
});

/** A provider that commits once for each key, takes some milliseconds, and loses each fifth answer. */
async function startProvider() {
  const effects = new Map<string, object>();
  let requests = 0;
  server = createServer((request, response) => {
    const providerKey = String(request.headers["idempotency-key"]);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      requests += 1;
      const isLost = requests % 5 === 1;
      if (!effects.has(providerKey)) {
        effects.set(providerKey, { id: `p-${effects.size + 1}`, ...(JSON.parse(body) as object) });
      }
      setTimeout(() => {
        if (isLost) {
          request.socket.destroy();
        } else {
          response.writeHead(201).end(JSON.stringify(effects.get(providerKey)));
        }
      }, 10);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/payments`, effects, requests: () => requests };
}

interface Result {
  readonly receipts: readonly { readonly id: string }[];
  readonly faults: { readonly serialisation: number; readonly answerLost: number };
}

/** Starts the processes, lets them all begin at once, and gives what each of them printed. */
async function performInProcesses(count: number, env: Record<string, string>): Promise<readonly Result[]> {
  const started = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, [performer], {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  for (const { lines } of started) {
    expect((await lines.next()).value).toBe("ready");
  }
  for (const { child } of started) {
    child.stdin.write("go\n");
  }
  return Promise.all(
    started.map(async ({ lines }) => JSON.parse((await lines.next()).value as string) as Result),
  );
}

test("two hundred calls from eight processes, statements failing: one effect, one receipt, one confirmation", async () => {
  const provider = await startProvider();
  const key = "payment:order-1:capture";
  const results = await performInProcesses(8, {
    DATABASE_URL: database.url,
    PROVIDER_URL: provider.url,
    OPERATION_KEY: key,
    CALLS: "25",
    FAULT_EVERY: "9",
  });
  const receipts = results.flatMap((result) => result.receipts);
  expect(receipts).toHaveLength(200);
  expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
  expect([...provider.effects.keys()]).toEqual([key]);
  const events = await listEvents(database.ledger, key);
  expect(events.filter(({ state }) => state === "confirmed")).toHaveLength(1);
  expect(events.filter(({ verb }) => verb === "intend")).toHaveLength(1);
  const fired = (fault: keyof Result["faults"]) =>
    results.reduce((sum, result) => sum + result.faults[fault], 0);
  expect(fired("serialisation"), "a fault that didn't fire proves nothing").toBeGreaterThan(0);
  expect(fired("answerLost"), "a fault that didn't fire proves nothing").toBeGreaterThan(0);
});
