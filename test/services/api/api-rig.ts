/** The API on a database of the test file's own, called without a port. */
import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll } from "vitest";
import type { LedgerTimeouts } from "../../../adapters/ledger/database.js";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { buildApi, type Api } from "../../../services/api/app.js";
import { callerDirectory, type Role } from "../../../services/api/callers.js";
import { connectionLimits, type ConnectionLimits } from "../../../services/api/connection-limits.js";
import { errorForLog } from "../../../services/error-log.js";
import { ledgerDatabase, type TestDatabase } from "../../support/database.js";

const caller = (id: string, tenant: string, ...roles: Role[]) => ({
  id,
  tenant,
  roles,
  keySha256: createHash("sha256").update(keyOf(id)).digest("hex"),
  ...(roles.includes("reviewer") ? { mail: `${id}@reviewers.example` } : {}),
});

export const people = [
  caller("sue", "north", "submitter"),
  caller("sam", "north", "submitter"),
  caller("ann", "north", "reviewer"),
  caller("bob", "north", "reviewer"),
  caller("max", "north", "submitter", "reviewer"),
  caller("ops", "north", "operator"),
  caller("web", "north", "provider"),
  caller("sid", "south", "submitter"),
  caller("rob", "south", "reviewer"),
];

export function keyOf(id: string): string {
  return `key-of-${id}`;
}

export const as = (id: string) => ({ authorization: `Bearer ${keyOf(id)}` });

export interface ApiRig {
  readonly database: TestDatabase;
  readonly app: Api;
  /** Each log line, for what must not stand in one. */
  readonly logLines: readonly string[];
  /** Hands in a batch; `key` is the idempotency key. */
  submit(id: string, key: string, body: unknown): Promise<Answer>;
  get(id: string, url: string): Promise<Answer>;
  decide(id: string, reviewId: string, body: unknown): Promise<Answer>;
  /** Rows of each table that the API writes to. */
  countRows(): Promise<Readonly<Record<(typeof written)[number], number>>>;
}

const written = ["requests", "outbox", "tickets", "ticket_votes", "inbox", "payloads"] as const;

/** Call once at the top of a test file. */
export function apiRig({
  openBatchesMax = 4,
  limits = {},
  timeouts = {},
}: {
  openBatchesMax?: number;
  limits?: Partial<ConnectionLimits>;
  timeouts?: Partial<LedgerTimeouts>;
} = {}): ApiRig {
  const database = ledgerDatabase();
  const logLines: string[] = [];
  let app: Api;

  beforeAll(async () => {
    const sink = { write: (line: string) => void logLines.push(line) };
    app = await buildApi(
      {
        ledger: database.open("api", { timeouts }),
        callers: callerDirectory(people),
        policy: productionPolicy.workflow,
        taskQueue: "invoices",
        openBatchesMax,
        logger: pino({ level: "info", serializers: { err: errorForLog } }, sink),
      },
      { ...connectionLimits, ...limits },
    );
  });
  afterAll(() => app?.close());

  const post = async (id: string, url: string, headers: Record<string, string>, body: unknown) =>
    answerOf(
      await app.inject({
        method: "POST",
        url,
        headers: { ...as(id), ...headers, "content-type": "application/json" },
        payload: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  return {
    database,
    get app() {
      return app;
    },
    logLines,
    submit: (id, key, body) => post(id, "/api/invoice-batches", { "idempotency-key": key }, body),
    get: async (id, url) => answerOf(await app.inject({ method: "GET", url, headers: as(id) })),
    decide: (id, reviewId, body) =>
      post(id, `/api/reviews/${encodeURIComponent(reviewId)}/decisions`, {}, body),
    countRows: async () => {
      const counts = await Promise.all(
        written.map(async (table) => {
          const { count } = await database.ledger
            .selectFrom(table)
            .select((expression) => expression.fn.countAll<number>().as("count"))
            .executeTakeFirstOrThrow();
          return [table, count] as const;
        }),
      );
      return Object.fromEntries(counts) as Record<(typeof written)[number], number>;
    },
  };
}

type Injected = Awaited<ReturnType<Api["inject"]>>;

export type Answer = ReturnType<typeof answerOf>;

export function answerOf(response: Injected) {
  const { statusCode: status, headers } = response;
  const mediaType = String(headers["content-type"]).split(";", 1)[0];
  return { status, headers, mediaType, body: response.json<Record<string, unknown>>() };
}

export function invoices(...keys: readonly string[]) {
  return {
    invoices: keys.map((invoiceKey) => ({ invoiceKey, documentId: `${invoiceKey}.xml`, revision: 1 })),
  };
}

/** What every problem looks like. */
export function problem(name: string, status: number, more: Record<string, unknown> = {}) {
  return {
    status,
    mediaType: "application/problem+json",
    body: { type: `urn:problem-type:killproof:${name}`, status, ...more },
  };
}
