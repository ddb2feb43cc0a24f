/** The whole table of what accounting can answer, and what each answer means. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InvoicePosting, PostingReceipt } from "../../../activities/ports.js";
import { accountingAnswers, samePosting, toFound } from "../../../adapters/providers/accounting/answers.js";
import { toAnswer } from "../../../adapters/providers/answers.js";
import type { Exchange } from "../../../adapters/providers/http.js";
import { problem, responded } from "../../support/exchange.js";

const now = Date.UTC(2026, 0, 1);
const receipt: PostingReceipt = {
  entryReference: "GL-17",
  invoiceKey: "acme:INV-1",
  revision: 2,
  currency: "EUR",
  amountMinor: 12_000,
  payloadDigest: "ab".repeat(32),
};
const request: InvoicePosting = {
  invoiceKey: "acme:INV-1",
  revision: 2,
  supplierId: "supplier-9",
  invoiceNumber: "2026-1",
  currency: "EUR",
  amountMinor: 12_000,
  payloadDigest: "ab".repeat(32),
};
const asAnswered = {
  ...receipt,
  supplierId: "supplier-9",
  invoiceNumber: "2026-1",
  committedAt: "2026-01-01T00:00:00Z",
};
const types = "https://accounting.example/problems";
const answer = (exchange: Exchange) => toAnswer(exchange, accountingAnswers, now);

describe("an answer that says something", () => {
  test.each([
    ["201 with a receipt", responded(201, { json: asAnswered }), { outcome: "done", receipt }],
    ["200 with a receipt", responded(200, { json: asAnswered }), { outcome: "done", receipt }],
    [
      "409 in progress",
      problem(409, `${types}/request-in-progress`, { retryAfter: "2" }),
      { outcome: "inProgress", retryAfterMs: 2_000 },
    ],
    [
      "409 in progress without Retry-After",
      problem(409, `${types}/request-in-progress`),
      { outcome: "inProgress", retryAfterMs: 1_000 },
    ],
    [
      "409 exists",
      problem(409, `${types}/posting-exists`, { detail: "d" }),
      { outcome: "exists", detail: "d" },
    ],
    [
      "409 other body under the key",
      problem(409, `${types}/idempotency-key-reused`, { detail: "d" }),
      { outcome: "conflict", detail: "d" },
    ],
    ...accountingAnswers.definitiveRefusals.map((code): [string, Exchange, object] => [
      `422 ${code}`,
      problem(422, `${types}/refused`, { code, detail: "d" }),
      { outcome: "refused", code, detail: "d" },
    ]),
  ])("%s", (_name, exchange, expected) => {
    expect(answer(exchange)).toEqual(expected);
  });
});

describe("an answer that says nothing about the effect", () => {
  const cases: [string, Exchange][] = [
    ["time-out", { kind: "noAnswer", reason: "timeout", detail: "no answer within 1000 ms" }],
    ["reset", { kind: "noAnswer", reason: "connection", detail: "ECONNRESET" }],
    ["cancelled", { kind: "noAnswer", reason: "cancelled", detail: "the call was cancelled" }],
    ["too large", { kind: "noAnswer", reason: "tooLarge", detail: "above 10 bytes" }],
    ["201 that isn't JSON", responded(201, { body: "<html>" })],
    [
      "201 that isn't UTF-8",
      { kind: "response", status: 201, mediaType: null, retryAfter: null, body: Uint8Array.of(0xff) },
    ],
    ["201 without a body", responded(201)],
    ["201 with half a receipt", responded(201, { json: { entryReference: "GL-1" } })],
    ["201 with an amount as text", responded(201, { json: { ...asAnswered, amountMinor: "12000" } })],
    ["202", responded(202, { json: asAnswered })],
    ["204", responded(204)],
    ["301", responded(301)],
    ["307", responded(307)],
    ["400", problem(400, `${types}/invalid-request`)],
    ["401", problem(401, `${types}/not-authenticated`)],
    ["403", responded(403, { mediaType: "text/html" })],
    ["404", problem(404, `${types}/no-such-route`)],
    ["408", responded(408)],
    ["429", responded(429)],
    ["409 without a problem", responded(409, { body: "conflict", mediaType: "text/plain" })],
    ["409 with a problem of another type", problem(409, "https://elsewhere.example/problems/posting-exists")],
    ["409 about:blank", problem(409, "about:blank")],
    [
      "409 whose problem isn't marked as one",
      responded(409, { json: { type: `${types}/posting-exists` }, mediaType: "application/json" }),
    ],
    ["422 with a code that isn't on the list", problem(422, `${types}/refused`, { code: "try-again" })],
    ["422 without a code", problem(422, `${types}/refused`)],
    [
      "422 with a code of the list in a foreign problem",
      problem(422, "about:blank", { code: "period-closed" }),
    ],
    ["400 with a refusal of the list", problem(400, `${types}/refused`, { code: "period-closed" })],
    ["500", problem(500, `${types}/internal`)],
    ["502", responded(502)],
    ["503", responded(503)],
    ["504", responded(504)],
  ];
  test.each(cases)("%s", (_name, exchange) => {
    expect(answer(exchange)).toMatchObject({ outcome: "unknown", cause: expect.stringMatching(/./) });
  });

  test("but may say when to ask again", () => {
    expect(answer(responded(503, { retryAfter: "7" }))).toMatchObject({
      outcome: "unknown",
      retryAfterMs: 7_000,
    });
    expect(answer(responded(429, { retryAfter: "Thu, 01 Jan 2026 00:00:09 GMT" }))).toMatchObject({
      retryAfterMs: 9_000,
    });
    expect(answer(responded(503, { retryAfter: "soon" }))).not.toHaveProperty("retryAfterMs");
  });
});

test("whatever the status and the body, only what is published is more than unknown", () => {
  const published = new Set([200, 201, 409, 422]);
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.string(),
      fc.option(fc.string()),
      (status, body, mediaType) => {
        const { outcome } = answer(responded(status, { body, mediaType }));
        expect(outcome).toBe("unknown");
      },
    ),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }).filter((status) => !published.has(status)),
      fc.constantFrom("request-in-progress", "posting-exists", "idempotency-key-reused", "refused"),
      fc.constantFrom(...accountingAnswers.definitiveRefusals),
      (status, name, code) => {
        expect(answer(problem(status, `${types}/${name}`, { code })).outcome).toBe("unknown");
      },
    ),
  );
});

describe("a lookup", () => {
  const another = { ...asAnswered, entryReference: "GL-18" };
  test.each([
    ["one posting", responded(200, { json: { items: [asAnswered] } }), { found: "present", receipt }],
    ["an empty list", responded(200, { json: { items: [] } }), { found: "absent" }],
    [
      "two postings",
      responded(200, { json: { items: [asAnswered, another] } }),
      { found: "unknown", cause: "2 postings carry acme:INV-1: GL-17, GL-18" },
    ],
    ["no list", responded(200, { json: {} }), { found: "unknown", cause: "status 200" }],
    [
      "404, not supported",
      problem(404, `${types}/lookup-not-supported`),
      { found: "unknown", cause: `status 404 ${types}/lookup-not-supported` },
    ],
    [
      "404 of a gateway",
      responded(404, { mediaType: "text/html" }),
      { found: "unknown", cause: "status 404" },
    ],
    [
      "503",
      responded(503, { retryAfter: "3" }),
      { found: "unknown", cause: "status 503", retryAfterMs: 3_000 },
    ],
    [
      "time-out",
      { kind: "noAnswer", reason: "timeout", detail: "d" } as const,
      { found: "unknown", cause: "timeout: d" },
    ],
  ] satisfies [string, Exchange, object][])("%s", (_name, exchange, expected) => {
    expect(toFound(exchange, now)).toEqual(expected);
  });
});

describe("the same effect", () => {
  test("whatever number the entry got", () => {
    expect(samePosting(request, receipt)).toBe(true);
    expect(samePosting(request, { ...receipt, entryReference: "GL-99" })).toBe(true);
  });
  test.each([
    { invoiceKey: "acme:INV-2" },
    { revision: 3 },
    { currency: "USD" },
    { amountMinor: 12_001 },
    { payloadDigest: "cd".repeat(32) },
  ])("not with %o", (change) => {
    expect(samePosting(request, { ...receipt, ...change })).toBe(false);
  });
});
