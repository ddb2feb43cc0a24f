import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { beforeAll, expect, test } from "vitest";
import type { ReviewDesk, ReviewStanding } from "../../../activities/invoice-approval/ports.js";
import {
  createOpenReview,
  createResolveReview,
  reviewProjection,
} from "../../../activities/invoice-approval/review-invoice.js";
import type { ReviewRequest } from "../../../activities/invoice-approval/steps.js";
import { fingerprintOf } from "../../../activities/operation/fingerprint.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import { readSample } from "../../support/samples.js";

let content: JsonValue;
let request: ReviewRequest;

beforeAll(async () => {
  const invoice = await readSample("needs-review.ubl.xml");
  content = invoice as unknown as JsonValue;
  request = {
    processingId: "batch:key",
    tenant: "north",
    reviewId: "review:batch:key:1",
    invoice: { invoiceKey: "key", documentId: "file", revision: 1 },
    payloadDigest: createHash("sha256").update(canonicalize(invoice)!).digest("hex"),
    currency: invoice.currency,
    amountMinor: invoice.totals.grossMinor,
    approvalsNeeded: 1,
    deadlineAt: "2026-03-01T00:00:00.000Z",
    workflowId: "invoice:key",
    excluded: [],
    mailTo: [],
  };
});

const payloads = { put: () => Promise.reject(new Error("nothing is stored here")), get: async () => content };

function desk(answers: Partial<ReviewDesk>): ReviewDesk {
  const never = () => Promise.reject(new Error("this wasn't to be asked"));
  return { open: never, resolve: never, withdraw: never, ...answers };
}

const resolveWith = (standing: ReviewStanding) =>
  createResolveReview({ payloads, reviews: desk({ resolve: async () => standing }) })(request);

const ended = (state: string, fingerprint = fingerprintOf(request, reviewProjection).digest) => ({
  outcome: "ended" as const,
  state,
  fingerprint,
  payloadDigest: request.payloadDigest,
  votes: [
    { voter: "ann", decision: "approve" },
    { voter: "bob", decision: "reject" },
  ],
});

test("a review is opened under the fingerprint of what would be posted, with the deadline that is stored", async () => {
  const opened: unknown[] = [];
  const stored = new Date("2026-02-28T00:00:00.000Z");
  const open = createOpenReview({
    payloads,
    reviews: desk({
      open: async (review) => {
        opened.push(review.fingerprint);
        return { outcome: "opened", deadlineAt: stored };
      },
    }),
  });
  expect(await open(request)).toEqual({ deadlineAt: stored.toISOString() });
  expect(opened).toEqual([fingerprintOf(request, reviewProjection).digest]);
});

test.each([
  ["amount", (given: ReviewRequest) => ({ ...given, amountMinor: given.amountMinor + 1 })],
  ["currency", (given: ReviewRequest) => ({ ...given, currency: "USD" })],
  ["content", (given: ReviewRequest) => ({ ...given, payloadDigest: "0".repeat(64) })],
])("another %s than the stored one opens no review", async (_, change) => {
  const open = createOpenReview({ payloads, reviews: desk({}) });
  await expect(open(change(request))).rejects.toMatchObject({ type: "PayloadMismatch", nonRetryable: true });
});

test("a review id that stands for something else is a conflict", async () => {
  const reviews = desk({ open: async () => ({ outcome: "conflict", detail: "its revision is 2" }) });
  const open = createOpenReview({ payloads, reviews });
  await expect(open(request)).rejects.toMatchObject({ type: "OperationConflict", nonRetryable: true });
});

test.each([
  ["amountMinor", { amountMinor: 1 }],
  ["payloadDigest", { payloadDigest: "0".repeat(64) }],
  ["processingId", { processingId: "other:key" }],
  ["reviewId", { reviewId: "review:batch:key:2" }],
  ["revision", { invoice: { invoiceKey: "key", documentId: "file", revision: 2 } }],
])("the fingerprint covers the %s", (_, change) => {
  const digest = (given: ReviewRequest) => fingerprintOf(given, reviewProjection).digest;
  expect(digest({ ...request, ...change })).not.toBe(digest(request));
});

test("an end is passed on, and only an approval of this content is one", async () => {
  expect(await resolveWith(ended("approved"))).toEqual({
    state: "approved",
    payloadDigest: request.payloadDigest,
  });
  expect(await resolveWith(ended("rejected"))).toEqual({ state: "rejected", by: "bob" });
  expect(await resolveWith(ended("expired"))).toEqual({ state: "expired" });
  expect(await resolveWith({ outcome: "not-yet", remainingMs: 7 })).toEqual({
    state: "open",
    remainingMs: 7,
  });
  await expect(resolveWith(ended("approved", "0".repeat(64)))).rejects.toMatchObject({
    type: "PayloadMismatch",
    nonRetryable: true,
  });
});

test("a review that an earlier run withdrew fails as that", async () => {
  await expect(resolveWith(ended("withdrawn"))).rejects.toMatchObject({
    type: "ReviewWithdrawn",
    nonRetryable: true,
  });
});

test("a review that is gone and an end that nobody knows fail visibly", async () => {
  for (const standing of [{ outcome: "unknown" } as const, ended("adjourned")]) {
    await expect(resolveWith(standing)).rejects.toMatchObject({
      type: "UnrecognisedResult",
      nonRetryable: true,
    });
  }
});
