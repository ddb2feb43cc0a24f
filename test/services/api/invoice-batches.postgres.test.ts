import { expect, test } from "vitest";
import { changeRequestState } from "../../../adapters/ledger/requests/change-state.js";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { bodyBytesMax } from "../../../services/api/app.js";
import { apiRig, answerOf, as, invoices, keyOf, problem } from "./api-rig.js";

const rig = apiRig();

/** A tenant may have four open batches, so a test that has shown what it shows ends its own. */
async function end(batchId: unknown): Promise<void> {
  await changeRequestState(rig.database.ledger, { requestId: String(batchId), to: "completed" });
}

test("an admitted batch is a request and its start, in one transaction, and says where to look", async () => {
  const before = await rig.countRows();
  const admitted = await rig.submit("sue", "key-1", invoices("a-1", "a-2"));
  expect(admitted).toMatchObject({ status: 202, body: { state: "admitted" } });
  const batchId = admitted.body["batchId"] as string;
  expect(admitted.headers["location"]).toBe(`/api/invoice-batches/${batchId}`);
  expect(await rig.countRows()).toEqual({
    ...before,
    requests: before.requests + 1,
    outbox: before.outbox + 1,
  });

  const rows = await rig.database.ledger
    .selectFrom("outbox")
    .select(["message_key", "body"])
    .where("ordering_key", "=", `workflow:invoice-batch:${batchId}`)
    .execute();
  expect(rows).toEqual([
    {
      message_key: `start:invoice-batch:${batchId}`,
      body: {
        kind: "start",
        workflowId: `invoice-batch:${batchId}`,
        workflowType: "invoiceBatch",
        taskQueue: "invoices",
        args: [
          {
            batchId,
            tenant: "north",
            ...invoices("a-1", "a-2"),
            policy: productionPolicy.workflow,
            admission: {
              requestId: batchId,
              submittedBy: "sue",
              reviewerMails: ["ann@reviewers.example", "bob@reviewers.example", "max@reviewers.example"],
            },
          },
        ],
        workflowTaskTimeoutMs: productionPolicy.workflow.workflowTaskTimeoutMs,
        searchAttributes: {
          KillproofCase: "invoice-approval",
          KillproofTenant: "north",
          KillproofSubject: batchId,
          KillproofState: "processing",
        },
      },
    },
  ]);
  const seen = await rig.get("sue", `/api/invoice-batches/${batchId}`);
  expect(seen).toMatchObject({
    status: 200,
    body: { batchId, tenant: "north", state: "admitted", ...invoices("a-1", "a-2"), result: null },
  });
  await end(batchId);
});

test("the same key and body give the same batch, also when they come at once", async () => {
  const before = await rig.countRows();
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => rig.submit("sue", "key-2", invoices("b-1"))),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  expect(new Set(answers.map(({ body }) => body["batchId"])).size).toBe(1);
  // A field left to its default is the same body.
  const short = { invoices: [{ invoiceKey: "b-1", documentId: "b-1.xml" }] };
  expect((await rig.submit("sue", "key-2", short)).body["batchId"]).toBe(answers[0]?.body["batchId"]);
  const after = await rig.countRows();
  expect([after.requests - before.requests, after.outbox - before.outbox]).toEqual([1, 1]);
  await end(answers[0]?.body["batchId"]);
});

test("the same key with another body is refused with both fingerprints", async () => {
  const first = await rig.submit("sue", "key-3", invoices("c-1"));
  const before = await rig.countRows();
  const second = await rig.submit("sue", "key-3", invoices("c-2"));
  expect(second).toMatchObject(
    problem("IdempotencyKeyReused", 409, {
      requestId: first.body["batchId"],
      storedFingerprint: first.body["fingerprint"],
      offeredFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    }),
  );
  expect(second.body["offeredFingerprint"]).not.toBe(first.body["fingerprint"]);
  expect(await rig.countRows()).toEqual(before);
  await end(first.body["batchId"]);
});

test("another caller's same key is independent", async () => {
  const sues = await rig.submit("sue", "key-4", invoices("d-1"));
  const sams = await rig.submit("sam", "key-4", invoices("d-2"));
  expect([sues.status, sams.status]).toEqual([202, 202]);
  expect(sams.body["batchId"]).not.toBe(sues.body["batchId"]);
  await end(sues.body["batchId"]);
  await end(sams.body["batchId"]);
});

test("a tenant's fifth open batch waits until one has ended, and other tenants don't", async () => {
  const open = [];
  for (const key of ["e-1", "e-2", "e-3", "e-4"]) open.push(await rig.submit("sue", key, invoices(key)));
  const before = await rig.countRows();
  expect(await rig.submit("sam", "e-5", invoices("e-5"))).toMatchObject(
    problem("TooManyOpenBatches", 429, { openBatchesMax: 4, retryable: true }),
  );
  expect(await rig.countRows()).toEqual(before);
  // What was admitted before is answered all the same.
  expect((await rig.submit("sue", "e-1", invoices("e-1"))).status).toBe(202);
  const south = await rig.submit("sid", "e-5", invoices("e-6"));
  expect(south.status).toBe(202);
  await end(open[0]?.body["batchId"]);
  const fifth = await rig.submit("sam", "e-5", invoices("e-5"));
  expect(fifth.status).toBe(202);
  for (const { body } of [...open.slice(1), fifth, south]) await end(body["batchId"]);
});

test("of two that come at once for the last place, one is admitted", async () => {
  const open = [];
  for (const key of ["f-1", "f-2", "f-3"]) open.push(await rig.submit("sue", key, invoices(key)));
  const rivals = await Promise.all([
    rig.submit("sue", "f-4", invoices("f-4")),
    rig.submit("sam", "f-5", invoices("f-5")),
  ]);
  expect(rivals.map(({ status }) => status).sort()).toEqual([202, 429]);
  for (const { body } of [...open, ...rivals]) if (body["batchId"] !== undefined) await end(body["batchId"]);
});

const nine = ["1", "2", "3", "4", "5", "6", "7", "8", "ninth"];
const bad: readonly [string, unknown, RegExp][] = [
  ["no invoice", { invoices: [] }, /body\.invoices is \[\]: must hold 1 to 8 invoices, holds 0/],
  ["nine", invoices(...nine), /holds 9, too many from ninth on/],
  ["one twice", invoices("x", "y", "x"), /body\.invoices\.2\.invoiceKey is "x": must not occur twice/],
  ["a key with a colon", invoices("a:b"), /invoiceKey is "a:b": must be 1 to 100 of letters/],
  [
    "a revision of nought",
    { invoices: [{ invoiceKey: "a", documentId: "a", revision: 0 }] },
    /revision is 0/,
  ],
  ["no document", { invoices: [{ invoiceKey: "a" }] }, /documentId is absent/],
  ["an unknown field", { ...invoices("a"), tenant: "south" }, /tenant/],
  ["no object", [], /body is \[\]/],
  ["null", "null", /body is null/],
  ["broken JSON", '{"invoices":', /JSON/],
  ["no body", "", /body/i],
  ["a poisoned prototype", '{"__proto__":{"invoices":[]}}', /./],
];

test.each(bad)("a batch with %s is refused as a whole", async (_, body, detail) => {
  const before = await rig.countRows();
  expect(await rig.submit("sue", "bad", body)).toMatchObject(
    problem("InvalidRequest", 400, { detail: expect.stringMatching(detail) as unknown }),
  );
  expect(await rig.countRows()).toEqual(before);
});

test.each([
  ["missing", {}, /idempotency-key is absent/],
  ["empty", { "idempotency-key": "" }, /must be 1 to 200 printable characters/],
  ["too long", { "idempotency-key": "k".repeat(201) }, /must be 1 to 200 printable characters/],
])("an idempotency key that is %s is named", async (_, headers, detail) => {
  const response = await rig.app.inject({
    method: "POST",
    url: "/api/invoice-batches",
    headers: { ...as("sue"), ...headers },
    payload: invoices("a"),
  });
  expect(answerOf(response)).toMatchObject(
    problem("InvalidRequest", 400, { detail: expect.stringMatching(detail) as unknown }),
  );
});

test("a body above a megabyte and one that isn't JSON are not read", async () => {
  const before = await rig.countRows();
  const send = async (payload: string, type: string) =>
    answerOf(
      await rig.app.inject({
        method: "POST",
        url: "/api/invoice-batches",
        headers: { ...as("sue"), "idempotency-key": "k", "content-type": type },
        payload,
      }),
    );
  expect(await send(`"${"x".repeat(bodyBytesMax)}"`, "application/json")).toMatchObject(
    problem("BodyTooLarge", 413),
  );
  expect(await send("<invoices/>", "application/xml")).toMatchObject(problem("UnsupportedMediaType", 415));
  expect(await rig.countRows()).toEqual(before);
});

test.each([
  ["no key", {}, "Unauthenticated", 401],
  ["a key of nobody", { authorization: "Bearer nobody" }, "Unauthenticated", 401],
  ["another scheme", { authorization: `Basic ${keyOf("sue")}` }, "Unauthenticated", 401],
  ["a reviewer's key", as("ann"), "NotAllowed", 403],
  ["an operator's key", as("ops"), "NotAllowed", 403],
  ["a provider's key", as("web"), "NotAllowed", 403],
])("with %s nothing is admitted", async (_, headers, name, status) => {
  const before = await rig.countRows();
  const response = await rig.app.inject({
    method: "POST",
    url: "/api/invoice-batches",
    headers: { ...headers, "idempotency-key": "k" },
    payload: invoices("a"),
  });
  expect(answerOf(response)).toMatchObject(problem(name, status));
  expect(response.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
  expect(await rig.countRows()).toEqual(before);
});

test("a batch is shown to its tenant, with its result when it has one", async () => {
  const { body } = await rig.submit("sue", "key-5", invoices("g-1"));
  const url = `/api/invoice-batches/${String(body["batchId"])}`;
  expect(await rig.get("sid", url)).toMatchObject(problem("NotAllowed", 403));
  expect(await rig.get("ann", url)).toMatchObject(problem("NotAllowed", 403));
  const result = { batchId: body["batchId"] as string, outcomes: [], failures: 0 };
  await changeRequestState(rig.database.ledger, {
    requestId: String(body["batchId"]),
    to: "completed",
    result,
  });
  expect((await rig.get("ops", url)).body).toMatchObject({ state: "completed", result });
});

test.each(["nobody", "%00", "a%2Fb", "x".repeat(300)])("the batch %s is unknown", async (id) => {
  expect(await rig.get("sue", `/api/invoice-batches/${id}`)).toMatchObject(
    problem("UnknownInvoiceBatch", 404),
  );
});

test("what is no route is a problem too", async () => {
  expect(await rig.get("sue", "/api/nothing?secret=1")).toMatchObject(
    problem("UnknownRoute", 404, { detail: "there is no GET /api/nothing" }),
  );
  expect(await rig.get("sue", "/api/invoice-batches/%zz")).toMatchObject(problem("InvalidRequest", 400));
});

test("no key stands in the log", () => {
  expect(rig.logLines.length).toBeGreaterThan(10);
  expect(rig.logLines.filter((line) => line.includes("key-of-"))).toEqual([]);
});
