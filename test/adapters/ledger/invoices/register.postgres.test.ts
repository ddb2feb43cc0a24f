import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { InvoiceClaim } from "../../../../activities/invoice-approval/ports.js";
import { createPayloadNames } from "../../../../adapters/ledger/invoices/payload-names.js";
import { createRecoveryQueue } from "../../../../adapters/ledger/invoices/recovery.js";
import { createInvoiceRegister } from "../../../../adapters/ledger/invoices/register.js";
import { createPayloadStore } from "../../../../adapters/ledger/payloads/payload-store.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();
let counter = 0;

function claimOf(more: Partial<InvoiceClaim> = {}): InvoiceClaim {
  counter += 1;
  return {
    processingId: `batch:${counter}`,
    invoiceKey: `invoice-${counter}`,
    tenant: "acme",
    supplierId: "DE1",
    invoiceNumber: `number-${counter}`,
    ...more,
  };
}

describe("the register", () => {
  test("gives an invoice to the first, and to the same one again", async () => {
    const register = createInvoiceRegister(database.ledger);
    const claim = claimOf();
    expect(await register.claim(claim)).toEqual({ held: "by-us" });
    expect(await register.claim(claim)).toEqual({ held: "by-us" });
  });

  test.each([
    ["the same key", (first: InvoiceClaim) => ({ invoiceKey: first.invoiceKey })],
    ["the same supplier and number", (first: InvoiceClaim) => ({ invoiceNumber: first.invoiceNumber })],
  ])("refuses another processing with %s and names the holder", async (_what, same) => {
    const register = createInvoiceRegister(database.ledger);
    const first = claimOf();
    await register.claim(first);
    expect(await register.claim(claimOf(same(first)))).toEqual({
      held: "by-other",
      processingId: first.processingId,
    });
  });

  test("numbers of another supplier and of another tenant are others", async () => {
    const register = createInvoiceRegister(database.ledger);
    const { invoiceNumber } = claimOf();
    await register.claim(claimOf({ invoiceNumber }));
    expect(await register.claim(claimOf({ invoiceNumber, supplierId: "FR2" }))).toEqual({ held: "by-us" });
    expect(await register.claim(claimOf({ invoiceNumber, tenant: "other" }))).toEqual({ held: "by-us" });
  });

  test("a release frees the invoice, changes nothing the second time, and frees nobody else's", async () => {
    const register = createInvoiceRegister(database.ledger);
    const first = claimOf();
    const second = claimOf({ invoiceKey: first.invoiceKey });
    await register.claim(first);
    await register.release(second.processingId);
    expect(await register.claim(second)).toMatchObject({ held: "by-other" });
    await register.release(first.processingId);
    await register.release(first.processingId);
    expect(await register.claim(second)).toEqual({ held: "by-us" });
  });

  test("of many at once for one number exactly one holds it, and all agree who", async () => {
    const rivals = Array.from({ length: 12 }, () => claimOf({ supplierId: "RIVAL", invoiceNumber: "one" }));
    const pools = [database.ledger, database.open("rival-1"), database.open("rival-2")];
    const results = await Promise.all(
      rivals.map((claim, index) => createInvoiceRegister(pools[index % pools.length]!).claim(claim)),
    );
    const holders = results.map((result, index) =>
      result.held === "by-us" ? rivals[index]!.processingId : result.processingId,
    );
    expect(new Set(holders).size).toBe(1);
    expect(results.filter(({ held }) => held === "by-us")).toHaveLength(1);
  });
});

describe("names of payloads", () => {
  test("the first binding stays, also of many at once, and everybody is told it", async () => {
    const payloads = createPayloadStore(database.ledger);
    const digests = await Promise.all([1, 2, 3, 4, 5, 6].map((value) => payloads.put("test", { value })));
    const pools = [database.ledger, database.open("rival-3")];
    const bound = await Promise.all(
      digests.map((digest, index) =>
        createPayloadNames(pools[index % pools.length]!).bind("extraction:a:r1", digest),
      ),
    );
    expect(new Set(bound).size).toBe(1);
    expect(await createPayloadNames(database.ledger).lookUp("extraction:a:r1")).toBe(bound[0]);
  });

  test("a name that was never bound is unknown, and one is bound to stored content only", async () => {
    const names = createPayloadNames(database.ledger);
    expect(await names.lookUp("nothing")).toBeUndefined();
    await expect(names.bind("dangling", "0".repeat(64))).rejects.toThrow("foreign key");
  });

  test("nobody can change a binding", async () => {
    const digest = await createPayloadStore(database.ledger).put("test", { value: "kept" });
    await createPayloadNames(database.ledger).bind("kept", digest);
    const change = sql`update payload_names set name = 'changed' where name = 'kept'`;
    await expect(change.execute(database.ledger)).rejects.toThrow("refused");
  });
});

test("an unresolved invoice is one open row, however often it is reported", async () => {
  const queue = createRecoveryQueue(database.ledger);
  const entry = { subject: "invoice:stuck", reason: "UnrecognisedResult", detail: "probably-fine" };
  await queue.report(entry);
  await queue.report({ ...entry, detail: "again" });
  const { rows } = await sql`
    select subject_kind, reason, evidence from recovery_queue where subject = ${entry.subject}`.execute(
    database.ledger,
  );
  expect(rows).toEqual([
    { subject_kind: "invoice", reason: "UnrecognisedResult", evidence: { detail: "probably-fine" } },
  ]);
});
