/** From files to batches. Pure: the same files give the same batches under the same keys, on every machine. */
import { createHash } from "node:crypto";
import type { InvoiceFile } from "./invoice-files.js";

export interface Page {
  /**
   * Made from the batch's content, so that whoever repeats the command asks for the same batch and not for another
   * one. It changes with anything that would make it another batch: a file's name, content or revision.
   */
  readonly idempotencyKey: string;
  readonly files: readonly InvoiceFile[];
  readonly revision: number;
}

/** Raised when the meaning of the key's content changes, so that old and new keys never meet. */
const keyVersion = 1;
/** 128 bits: nobody hands in batches until two of them meet, and the batch's id stays readable. */
const keyHexDigits = 32;

/** @param size most invoices in a batch */
export function pagesOf(files: readonly InvoiceFile[], size: number, revision: number): readonly Page[] {
  const pages: Page[] = [];
  for (let start = 0; start < files.length; start += size) {
    const part = files.slice(start, start + size);
    pages.push({ idempotencyKey: keyOf(part, revision), files: part, revision });
  }
  return pages;
}

function keyOf(files: readonly InvoiceFile[], revision: number): string {
  const content = [
    keyVersion,
    revision,
    files.map(({ name, invoiceKey, sha256 }) => [name, invoiceKey, sha256]),
  ];
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  return `submit-${digest.slice(0, keyHexDigits)}`;
}
