/** Whatever comes in, nothing of it is the API's failure: bodies from its own document, and any JSON at all. */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { putPayload } from "../../../adapters/ledger/payloads/put-payload.js";
import { openTicket } from "../../../adapters/ledger/tickets/open-ticket.js";
import { apiRig, as } from "./api-rig.js";
import { arbitraryFor, type JsonSchema } from "./arbitrary-from-schema.js";

const openBatchesMax = 30;
const rig = apiRig({ openBatchesMax });
const reviewId = "review:batch:invoice:1";
const runs = 150;

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

let document: OpenApi;

beforeAll(async () => {
  document = (await rig.app.inject("/openapi.json")).json<OpenApi>();
  const payloadDigest = await putPayload(rig.database.ledger, "extracted-invoice", { amountMinor: 1 });
  await rig.database.ledger.transaction().execute((transaction) =>
    openTicket(transaction, {
      ticketId: reviewId,
      kind: "invoice-review",
      tenant: "north",
      subject: "batch:invoice",
      revision: 1,
      fingerprint: "a".repeat(64),
      payloadDigest,
      workflowId: "invoice:invoice",
      approvalsNeeded: 1,
      deadlineAt: new Date(Date.now() + 3_600_000),
      notify: [],
    }),
  );
});

const posts = [
  ["/api/invoice-batches", "/api/invoice-batches", "sue"],
  ["/api/reviews/{reviewId}/decisions", `/api/reviews/${reviewId}/decisions`, "ann"],
] as const;

async function send(path: string, url: string, caller: string, key: string, payload: string) {
  const response = await rig.app.inject({
    method: "POST",
    url,
    headers: { ...as(caller), "content-type": "application/json", "idempotency-key": key },
    payload,
  });
  const described = Object.keys(document.paths[path]?.["post"]?.responses ?? {});
  expect(described, `${response.statusCode} for ${payload}`).toContain(String(response.statusCode));
  expect(response.statusCode, payload).toBeLessThan(500);
  return response;
}

/** Requests without a start, and starts without a request: what a half-done admission would leave. */
async function halfDone(): Promise<readonly string[]> {
  const requests = await rig.database.ledger.selectFrom("requests").select("workflow_id").execute();
  const starts = await rig.database.ledger
    .selectFrom("outbox")
    .select("ordering_key")
    .where("kind", "=", "start")
    .execute();
  const admitted = new Set(requests.map((row) => `workflow:${row.workflow_id}`));
  const started = new Set(starts.map((row) => row.ordering_key));
  return [
    ...[...admitted].filter((key) => !started.has(key)),
    ...[...started].filter((key) => !admitted.has(key)),
  ];
}

test("the document names every route with its problems", () => {
  expect(document.openapi).toMatch(/^3\.1/);
  expect(Object.keys(document.paths).sort()).toEqual([
    "/api/invoice-batches",
    "/api/invoice-batches/{batchId}",
    "/api/reviews",
    "/api/reviews/{reviewId}",
    "/api/reviews/{reviewId}/decisions",
    "/healthz",
  ]);
});

test.each(posts)("bodies made from the document of %s are answered as it says", async (path, url, caller) => {
  const schema = document.paths[path]?.["post"]?.requestBody?.content["application/json"]?.schema;
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(arbitraryFor(schema!), fc.stringMatching(/^[!-~]{1,200}$/), async (body, key) => {
      const { statusCode } = await send(path, url, caller, key, JSON.stringify(body));
      seen.add(statusCode);
    }),
    { numRuns: runs },
  );
  // It reached what lies behind the contract, and didn't only bounce off it.
  expect([...seen].some((status) => status === 202 || status === 409 || status === 429)).toBe(true);
  expect(await halfDone()).toEqual([]);
});

test.each(posts)(
  "any JSON and any text at all sent to %s is answered below 500",
  async (path, url, caller) => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      fc.jsonValue().map((value) => JSON.stringify({ invoices: value, decisionId: value, revision: value })),
      fc
        .array(
          fc.record({ invoiceKey: fc.jsonValue(), documentId: fc.jsonValue(), revision: fc.jsonValue() }),
        )
        .map((invoices) => JSON.stringify({ invoices })),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.uuid(), async (payload, key) => {
        await send(path, url, caller, key, payload);
      }),
      { numRuns: runs },
    );
    expect(await halfDone()).toEqual([]);
  },
);

test("any query of the list is a page or one problem", async () => {
  const anything = fc.string({ unit: "binary" });
  const page = fc.record(
    {
      limit: fc.oneof(fc.integer().map(String), anything),
      after: fc.oneof(fc.constant(reviewId), anything),
      other: anything,
    },
    { requiredKeys: [] },
  );
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(page, async (query) => {
      const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
      const { statusCode } = await rig.app.inject({
        url: `/api/reviews?${text.join("&")}`,
        headers: as("ann"),
      });
      seen.add(statusCode);
      expect([200, 400, 403, 404], text.join("&")).toContain(statusCode);
    }),
    { numRuns: runs },
  );
  expect(seen).toContain(200);
  expect(seen).toContain(400);
});

test("any id in a path is answered below 500", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (id) => {
      const encoded = encodeURIComponent(id);
      for (const url of [`/api/invoice-batches/${encoded}`, `/api/reviews/${encoded}`]) {
        const { statusCode } = await rig.app.inject({ url, headers: as("ops") });
        expect(statusCode, url).toBe(404);
      }
    }),
    { numRuns: runs },
  );
});
