/** What holds for every route alike: who may call, what an answer carries, and what a failure gives away. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { answerOf, apiRig, as, invoices, keyOf, people, problem } from "./api-rig.js";

/** A lock that isn't granted is what a test can make of an unusable ledger without ending the server. */
const rig = apiRig({ timeouts: { lockMs: 100 } });

/** Each route that isn't open to everybody, with those who may call it. */
const guarded = [
  ["POST", "/api/invoice-batches", ["submitter"]],
  ["GET", "/api/invoice-batches/x", ["submitter", "operator"]],
  ["GET", "/api/reviews", ["reviewer", "operator"]],
  ["GET", "/api/reviews/x", ["reviewer", "operator"]],
  ["POST", "/api/reviews/x/decisions", ["reviewer"]],
] as const;
const everybodys = ["GET /healthz", "GET /openapi.json"];

test("each route is listed here: a new one has to say who may call it", async () => {
  const document = (await rig.app.inject("/openapi.json")).json<{ paths: Record<string, object> }>();
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{[^}]+\}/, "x")}`),
  );
  const listed = [...guarded.map(([method, path]) => `${method} ${path}`), ...everybodys];
  expect([...routes, "GET /openapi.json"].sort()).toEqual(listed.sort());
});

/** Everything that the API could have written, content included. */
async function everyRow(): Promise<unknown> {
  const tables = ["requests", "outbox", "tickets", "ticket_votes", "inbox"] as const;
  return Promise.all(
    tables.map(
      async (table) =>
        (await sql`select * from ${sql.table(table)} order by 1, 2`.execute(rig.database.ledger)).rows,
    ),
  );
}

describe.each(guarded)("%s %s", (method, url, allowed) => {
  const call = async (headers: Record<string, string>) =>
    rig.app.inject({
      method,
      url,
      headers: { ...headers, "idempotency-key": "k" },
      ...(method === "POST" ? { payload: {} } : {}),
    });

  test.each([
    ["no key", {}],
    ["nobody's key", { authorization: "Bearer nobody" }],
    ["an empty key", { authorization: "Bearer " }],
    ["the digest that stands in the file", { authorization: `Bearer ${people[0]!.keySha256}` }],
    ["a known key and more", { authorization: `Bearer ${keyOf("max")} ${keyOf("max")}` }],
    ["another scheme", { authorization: `Basic ${keyOf("max")}` }],
  ])("with %s: 401, and nothing changes", async (_, headers) => {
    const before = await everyRow();
    expect(answerOf(await call(headers))).toMatchObject(problem("Unauthenticated", 401));
    expect(await everyRow()).toEqual(before);
  });

  const others = people.filter(
    ({ roles }) => !roles.some((role) => (allowed as readonly string[]).includes(role)),
  );
  test.each(others.map(({ id, roles }) => [roles.join(" and "), id]))(
    "for a %s (%s): 403, and nothing changes",
    async (_, id) => {
      const before = await everyRow();
      expect(answerOf(await call(as(id)))).toMatchObject(problem("NotAllowed", 403));
      expect(await everyRow()).toEqual(before);
    },
  );
});

test.each(guarded.filter(([method]) => method === "GET"))(
  "HEAD asks for the same key and role as %s %s",
  async (_, url) => {
    const head = async (headers: Record<string, string>) =>
      (await rig.app.inject({ method: "HEAD", url, headers })).statusCode;
    expect([await head({}), await head(as("web"))]).toEqual([401, 403]);
  },
);

describe("prototypes", () => {
  test.each([
    ["__proto__", `{"__proto__":{"polluted":1},"invoices":[]}`],
    ["__proto__ within", `{"invoices":[{"__proto__":{"polluted":1},"invoiceKey":"a","documentId":"a"}]}`],
    ["constructor.prototype", `{"constructor":{"prototype":{"polluted":1}},"invoices":[]}`],
    ["an escaped __proto__", `{"\\u005f_proto__":{"polluted":1},"invoices":[]}`],
  ])("%s in a body is refused and changes nothing", async (_, body) => {
    const before = await rig.countRows();
    expect(await rig.submit("sue", "proto", body)).toMatchObject(problem("InvalidRequest", 400));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(await rig.countRows()).toEqual(before);
  });

  test("in a query", async () => {
    expect((await rig.get("ann", "/api/reviews?__proto__[polluted]=1&__proto__.polluted=1")).status).toBe(
      400,
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

test("no answer may be kept on the way or taken for another type", async () => {
  for (const url of ["/api/reviews", "/api/invoice-batches/x", "/nothing", "/healthz"]) {
    const { headers } = await rig.app.inject({ url, headers: as("ops") });
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  }
});

test("a fault of ours is UnexpectedFailure: the log says which, the answer doesn't, and nothing is half done", async () => {
  const before = await rig.countRows();
  // A statement that can't run: the request is stored first, and its start message can't be.
  await sql`alter table outbox rename column body to renamed`.execute(rig.database.ledger);
  const marker = "INV-marker-of-content";
  const lines = rig.logLines.length;
  const failed = await rig.submit("sue", "fault", invoices(marker));
  await sql`alter table outbox rename column renamed to body`.execute(rig.database.ledger);
  expect(failed).toMatchObject(problem("UnexpectedFailure", 500, { retryable: true }));
  expect(JSON.stringify(failed.body)).not.toMatch(/outbox|column|body"|insert|42703| at /);
  const logged = rig.logLines.slice(lines).join("");
  expect(logged).toContain("42703");
  expect(logged).not.toContain(marker);
  expect(logged).not.toContain("key-of-");
  expect(await rig.countRows()).toEqual(before);
  // The same request under the same key goes through, once the fault is mended.
  expect((await rig.submit("sue", "fault", invoices(marker))).status).toBe(202);
});

test("a ledger that can't be used is LedgerUnavailable, with a time to come again", async () => {
  const before = await rig.countRows();
  await rig.database.ledger.transaction().execute(async (holder) => {
    await sql`lock table requests in access exclusive mode`.execute(holder);
    const refused = await rig.submit("sue", "held", invoices("held"));
    expect(refused).toMatchObject(problem("LedgerUnavailable", 503, { retryable: true }));
    expect(refused.headers["retry-after"]).toBe("2");
  });
  expect(await rig.countRows()).toEqual(before);
});

test("an unknown route repeats only the beginning of a long path", async () => {
  const answer = await rig.get("sue", `/${"x".repeat(5_000)}`);
  expect(answer).toMatchObject(problem("UnknownRoute", 404));
  expect(JSON.stringify(answer.body).length).toBeLessThan(600);
});
