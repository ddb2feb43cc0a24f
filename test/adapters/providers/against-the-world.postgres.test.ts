/** The adapters against the systems that they were written for: what each fault becomes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProviderPolicy } from "../../../activities/operation/provider.js";
import type { Accounting, DocumentStore, InvoicePosting, Mail } from "../../../activities/ports.js";
import {
  createAccountingProvider,
  createDocumentStore,
  createMailProvider,
} from "../../../adapters/providers/index.js";
import type { FaultInput } from "../../../scenarios/world/control.js";
import { startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";

const policy: ProviderPolicy = {
  honoursKeys: true,
  keysLiveForMs: null,
  canFind: true,
  settleMs: 1_000,
  parkAfterMs: 60_000,
};
/** Long enough for a loaded machine; a test that waits it out has failed. */
const timeoutMs = 15_000;

let world: TestWorld;
let accounting: Accounting;
let impatient: Accounting;
let documents: DocumentStore;
let mail: Mail;

beforeAll(async () => {
  world = await startTestWorld();
  const at = (system: "accounting" | "documents" | "mail", apiKey: string) => ({
    baseUrl: world.baseUrl(system),
    apiKey,
    timeoutMs,
  });
  const books = { ...at("accounting", worldSecrets.WORLD_ACCOUNTING_API_KEY), policy };
  accounting = createAccountingProvider(books);
  impatient = createAccountingProvider({ ...books, timeoutMs: 50 });
  documents = createDocumentStore(at("documents", worldSecrets.WORLD_DOCUMENTS_API_KEY));
  mail = createMailProvider({
    ...at("mail", worldSecrets.WORLD_MAIL_API_KEY),
    policy: { ...policy, canFind: false },
  });
});
afterAll(() => world.dispose());

const signal = new AbortController().signal;

function posting(run: string, changes: Partial<InvoicePosting> = {}): InvoicePosting {
  return {
    invoiceKey: `acme:INV-${run}-1`,
    revision: 1,
    supplierId: "supplier-9",
    invoiceNumber: `2026-${run}`,
    currency: "EUR",
    amountMinor: 12_000,
    payloadDigest: "ab".repeat(32),
    ...changes,
  };
}
const post = (run: string, providerKey = `${run}:post`, changes: Partial<InvoicePosting> = {}) =>
  accounting.send(posting(run, changes), { providerKey, signal });
const find = (run: string) => accounting.find!(posting(run), { signal });
const tell = (run: string, fault: Record<string, unknown>) =>
  world.control.tellFault({ run, system: "accounting", ...fault } as FaultInput);
const committedCount = async (run: string) =>
  (await world.journal.postingsOf(posting(run).invoiceKey)).length;

describe("accounting", () => {
  test("posts, gives the same receipt again, and finds it", async () => {
    const run = world.newRun();
    expect(await find(run)).toEqual({ found: "absent" });
    const first = await post(run);
    expect(first).toMatchObject({
      outcome: "done",
      receipt: { invoiceKey: posting(run).invoiceKey, amountMinor: 12_000 },
    });
    expect(await post(run)).toEqual(first);
    const found = await find(run);
    expect(found).toEqual({ found: "present", receipt: first.outcome === "done" && first.receipt });
    expect(await world.journal.postingsOf(posting(run).invoiceKey)).toMatchObject([
      { origin: "client", posting: posting(run), entry: { idempotencyKey: `${run}:post` } },
    ]);
  });

  test("a second posting of the invoice is not taken for the effect", async () => {
    const run = world.newRun();
    await post(run, `${run}-1`);
    await post(run, `${run}-2`);
    expect(await find(run)).toMatchObject({
      found: "unknown",
      cause: expect.stringContaining("2 postings carry"),
    });
  });

  test("another request under the key is a conflict", async () => {
    const run = world.newRun();
    await post(run);
    expect(await post(run, `${run}:post`, { amountMinor: 1 })).toMatchObject({ outcome: "conflict" });
  });

  test.each([
    [
      { kind: "dropAnswer", times: 1 },
      { outcome: "unknown", cause: expect.stringContaining("connection") },
      1,
    ],
    [{ kind: "errorAfterCommit", status: 500, times: 1 }, { outcome: "unknown" }, 1],
    [{ kind: "unavailable", status: 401 }, { outcome: "unknown", cause: "status 401" }, 0],
    [{ kind: "unavailable", status: 403 }, { outcome: "unknown", cause: "status 403" }, 0],
    [{ kind: "unavailable", status: 404 }, { outcome: "unknown", cause: "status 404" }, 0],
    [
      { kind: "unavailable", status: 429, retryAfterSeconds: 2 },
      { outcome: "unknown", retryAfterMs: 2_000 },
      0,
    ],
    [
      { kind: "unavailable", status: 503, retryAfterSeconds: 7 },
      { outcome: "unknown", retryAfterMs: 7_000 },
      0,
    ],
    [{ kind: "exists" }, { outcome: "exists" }, 1],
    [{ kind: "refuse", code: "supplier-blocked" }, { outcome: "refused", code: "supplier-blocked" }, 0],
  ])("%o", async (fault, expected, committed) => {
    const run = world.newRun();
    await tell(run, fault);
    expect(await post(run)).toMatchObject(expected);
    expect(await committedCount(run)).toBe(committed);
  });

  test("a time-out is unknown, a retry before the commit is in progress, and in the end it is posted once", async () => {
    const run = world.newRun();
    await tell(run, { kind: "lateCommit", ms: 1_500, times: 1 });
    const request = posting(run);
    const context = { providerKey: `${run}:post`, signal };
    expect(await impatient.send(request, context)).toMatchObject({
      outcome: "unknown",
      cause: "timeout: no answer within 50 ms",
    });
    await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs });
    expect(await accounting.send(request, context)).toEqual({ outcome: "inProgress", retryAfterMs: 1_000 });
    await world.journal.until(({ kind }) => kind === "committed", { run, timeoutMs });
    expect(await find(run)).toMatchObject({ found: "present" });
    expect(await committedCount(run)).toBe(1);
  });

  test("what exists with another amount is found, and isn't the same effect", async () => {
    const run = world.newRun();
    await tell(run, { kind: "exists", amountMinor: 11_999 });
    expect(await post(run)).toMatchObject({ outcome: "exists" });
    const found = await find(run);
    expect(found.found === "present" && accounting.sameEffect(posting(run), found.receipt)).toBe(false);
  });

  test.each([
    [{ kind: "noFind" }, { found: "unknown", cause: expect.stringContaining("lookup-not-supported") }],
    [{ kind: "lookupLag", ms: 600_000 }, { found: "absent" }],
    [{ kind: "dropAnswer", operation: "find" }, { found: "unknown" }],
    [
      { kind: "unavailable", status: 404, operation: "find" },
      { found: "unknown", cause: "status 404" },
    ],
  ])("a lookup under %o", async (fault, expected) => {
    const run = world.newRun();
    await tell(run, fault);
    expect(await post(run)).toMatchObject({ outcome: "done" });
    expect(await find(run)).toMatchObject(expected);
  });

  test("a wrong key is unknown, and a system without lookup has no find", async () => {
    const wrong = createAccountingProvider({
      baseUrl: world.baseUrl("accounting"),
      apiKey: "wrong",
      timeoutMs,
      policy: { ...policy, canFind: false },
    });
    const answer = await wrong.send(posting("r0"), { providerKey: "k", signal });
    expect(answer).toMatchObject({ outcome: "unknown", cause: expect.stringContaining("not-authenticated") });
    expect(wrong).not.toHaveProperty("find");
  });
});

describe("documents", () => {
  test("gives what was put, and what replaced it", async () => {
    const id = `INV:${world.newRun()}.pdf`;
    const bytes = Uint8Array.from({ length: 2_048 }, (_, index) => index % 256);
    await world.control.putDocument(id, "application/pdf", bytes);
    const document = await documents.fetch(id, signal);
    expect({ ...document, bytes: [...document.bytes] }).toEqual({
      documentId: id,
      mediaType: "application/pdf",
      bytes: [...bytes],
    });
    await world.control.putDocument(id, "application/xml", Buffer.from("<a/>"));
    expect(Buffer.from((await documents.fetch(id, signal)).bytes).toString()).toBe("<a/>");
  });

  test("the store's own 404 is final, every other failure may be tried again", async () => {
    const run = world.newRun();
    await expect(documents.fetch(`${run}.xml`, signal)).rejects.toMatchObject({
      name: "UnknownDocument",
      message: `the document store has no document "${run}.xml"`,
    });
    await world.control.putDocument(`${run}.xml`, "application/xml", Buffer.from("<a/>"));
    for (const fault of [
      { kind: "unavailable", status: 404 },
      { kind: "unavailable" },
      { kind: "dropAnswer" },
    ]) {
      await world.control.tellFault({ run, system: "documents", times: 1, ...fault } as FaultInput);
      await expect(documents.fetch(`${run}.xml`, signal)).rejects.toMatchObject({
        name: "DocumentStoreUnavailable",
      });
    }
    expect(await documents.fetch(`${run}.xml`, signal)).toMatchObject({ mediaType: "application/xml" });
  });

  test("an id can't lead to another route", async () => {
    await expect(documents.fetch("../journal", signal)).rejects.toMatchObject({
      name: "DocumentStoreUnavailable",
    });
  });
});

describe("mail", () => {
  const message = (run: string) => ({
    reference: `review:${run}:reviewer-2`,
    to: "anna@acme.example",
    subject: "Please review",
    text: "Grüße",
  });

  test("is sent once per key, with a receipt for its words", async () => {
    const run = world.newRun();
    const first = await mail.send(message(run), { providerKey: run, signal });
    expect(first).toMatchObject({ outcome: "done" });
    expect(await mail.send(message(run), { providerKey: run, signal })).toEqual(first);
    expect(first.outcome === "done" && mail.sameEffect(message(run), first.receipt)).toBe(true);
    expect(await world.journal.messagesOf(message(run).reference)).toMatchObject([{ message: message(run) }]);
  });

  test("a recipient may be refused for good", async () => {
    const run = world.newRun();
    await world.control.tellFault({ run, system: "mail", kind: "refuse", code: "recipient-refused" });
    const answer = await mail.send(message(run), { providerKey: run, signal });
    expect(answer).toMatchObject({ outcome: "refused", code: "recipient-refused" });
    expect(await world.journal.messagesOf(message(run).reference)).toEqual([]);
  });
});
