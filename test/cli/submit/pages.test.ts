import fc from "fast-check";
import { expect, test } from "vitest";
import type { InvoiceFile } from "../../../cli/submit/invoice-files.js";
import { pagesOf } from "../../../cli/submit/pages.js";

const file = (name: string, sha256 = "0".repeat(64)): InvoiceFile => ({
  name: `${name}.xml`,
  invoiceKey: name,
  sha256,
});
const files = fc
  .uniqueArray(fc.stringMatching(/^[a-z0-9]{1,8}$/), { maxLength: 40 })
  .map((names) => names.map((name) => file(name)));

test("every invoice is in one batch, in order, and no batch is empty or too large", () => {
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 8 }), (all, size) => {
      const pages = pagesOf(all, size, 1);
      expect(pages.flatMap((page) => page.files)).toEqual(all);
      for (const [index, page] of pages.entries()) {
        expect(page.files.length).toBe(index < pages.length - 1 ? size : ((all.length - 1) % size) + 1);
      }
    }),
  );
});

test("the same files give the same keys, and no two batches share one", () => {
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 8 }), (all, size) => {
      const keys = pagesOf(all, size, 1).map((page) => page.idempotencyKey);
      expect(pagesOf(structuredClone(all), size, 1).map((page) => page.idempotencyKey)).toEqual(keys);
      expect(new Set(keys).size).toBe(keys.length);
      for (const key of keys) expect(key).toMatch(/^submit-[0-9a-f]{32}$/);
    }),
  );
});

test("a key stands for names, contents, order and revision", () => {
  const key = (all: readonly InvoiceFile[], revision = 1) => pagesOf(all, 8, revision)[0]?.idempotencyKey;
  const first = key([file("a"), file("b")]);
  const others = [
    key([file("a"), file("c")]),
    key([file("a"), file("b", "1".repeat(64))]),
    key([file("b"), file("a")]),
    key([file("a"), file("b")], 2),
    key([file("a")]),
  ];
  expect(new Set([first, ...others]).size).toBe(others.length + 1);
});

test("the key of a given batch never changes: those of other versions must find theirs again", () => {
  expect(pagesOf([file("a"), file("b")], 8, 1)[0]?.idempotencyKey).toBe(
    "submit-ee0183c123cdf0b7f5e3f715b0e91cab",
  );
});
