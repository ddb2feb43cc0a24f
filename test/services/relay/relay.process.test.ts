import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openLedger, type Ledger } from "../../../adapters/ledger/database.js";
import { migrate } from "../../../adapters/ledger/migrate.js";
import { enqueue } from "../../../adapters/ledger/outbox/enqueue.js";
import type { OutboxMessage } from "../../../adapters/ledger/outbox/message.js";
import { openTemporalClient } from "../../../adapters/temporal/client.js";
import {
  openRun,
  startPostgres,
  startTemporal,
  type ManagedProcess,
  type Run,
  type TemporalServer,
} from "../../../platform/index.js";

let run: Run;
let temporal: TemporalServer;
let ledgerUrl: string;
let ledger: Ledger;
let mail: HeldMailSystem;
/** Short, as the second relay waits for the end of the first one's lease. */
const leaseMs = 2_000;

beforeAll(async () => {
  run = await openRun({ name: "test-relay", handleSignals: false });
  const [postgres, server] = await Promise.all([
    startPostgres(run, { name: "ledger" }),
    startTemporal(run, { name: "temporal" }),
  ]);
  temporal = server;
  ledgerUrl = await postgres.createDatabase("ledger");
  await migrate({ url: ledgerUrl });
  ledger = openLedger({ url: ledgerUrl, applicationName: "test", poolSize: 2 });
  mail = await HeldMailSystem.listen();
});

afterAll(async () => {
  await ledger?.destroy();
  await run?.close();
  await mail?.close();
});

function startRelay(name: string): Promise<ManagedProcess> {
  return run.spawn({
    name,
    entry: "services/relay/main.js",
    env: {
      LEDGER_URL: ledgerUrl,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MAIL_URL: mail.url,
      MAIL_API_KEY: "mail-key",
      RELAY_NAME: name,
      RELAY_LEASE_MS: String(leaseMs),
      RELAY_SEND_TIMEOUT_MS: String(leaseMs - 500),
      RELAY_POLL_MS: "200",
    },
  });
}

const write = (messageKey: string, message: OutboxMessage) =>
  ledger.transaction().execute((transaction) => enqueue(transaction, messageKey, message));
const stateOf = (messageKey: string) =>
  ledger
    .selectFrom("outbox")
    .select(["state", "claims", "outcome"])
    .where("message_key", "=", messageKey)
    .executeTakeFirst();

test("a relay killed between send and settlement: another sends again, under the same key", async () => {
  const first = await startRelay("first");
  await write("start:batch-1", {
    kind: "start",
    workflowId: "batch-1",
    workflowType: "invoiceBatch",
    taskQueue: "nobody-works-here",
    args: [],
  });
  await write("mail:t1:ann@example.com", { kind: "mail", to: "ann@example.com", subject: "s", text: "t" });
  // The mail system has taken the mail on and hasn't answered: the relay can't know.
  await mail.received(1);
  expect(await first.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  mail.answerFromNowOn();

  const second = await startRelay("second");
  await mail.received(2);
  // A graceful stop ends the round under way, so what was sent is settled when it has ended.
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  expect(mail.keys).toEqual(["mail:t1:ann@example.com", "mail:t1:ann@example.com"]);
  expect(await stateOf("mail:t1:ann@example.com")).toMatchObject({
    state: "sent",
    claims: 2,
    outcome: { messageReference: "MSG-1" },
  });
  expect(await stateOf("start:batch-1")).toMatchObject({ state: "sent" });

  const client = await openTemporalClient({ ...temporal, identity: "test" });
  const workflow = await client.workflow.getHandle("batch-1").describe();
  expect(workflow.status.name).toBe("RUNNING");
  await client.connection.close();
});

test("bad settings end it at once, each named", async () => {
  const failing = run.spawn({
    name: "misconfigured",
    entry: "services/relay/main.js",
    env: { LEDGER_URL: "mysql://x", MAIL_URL: "", MAIL_API_KEY: "k" },
  });
  await expect(failing).rejects.toThrow(/MAIL_URL must be an http or https address/);
});

/** Keeps each mail unanswered until it is told to answer; then it gives the first receipt for a known key. */
class HeldMailSystem {
  readonly keys: string[] = [];
  readonly #held: ServerResponse[] = [];
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #answering = false;

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<HeldMailSystem> {
    const server = createServer();
    const system = new HeldMailSystem(server);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void system.#take(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return system;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Until so many requests have come in whole. */
  received(count: number): Promise<void> {
    return this.keys.length >= count
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  answerFromNowOn(): void {
    this.#answering = true;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) {
      parts.push(part as Buffer);
    }
    const { reference, to, subject } = JSON.parse(Buffer.concat(parts).toString()) as Record<string, string>;
    this.keys.push(String(request.headers["idempotency-key"]));
    if (this.#answering) {
      const number = this.keys.indexOf(this.keys.at(-1)!) + 1;
      const receipt = {
        messageReference: `MSG-${number}`,
        reference,
        to,
        subject,
        textSha256: "0".repeat(64),
      };
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(receipt));
    } else {
      this.#held.push(response);
    }
    for (const each of this.#waiting.filter((waiting) => this.keys.length >= waiting.count)) {
      each.resolve();
    }
  }
}
