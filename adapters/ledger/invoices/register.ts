import { sql } from "kysely";

import type {
  ClaimResult,
  InvoiceClaim,
  InvoiceRegister,
} from "../../../activities/invoice-approval/ports.js";
import type { Ledger } from "../database.js";

/** Who holds an invoice, by its key and by its supplier and number. Both calls may be repeated at will. */
export function createInvoiceRegister(ledger: Ledger): InvoiceRegister {
  return {
    claim: (claim) => claimInvoice(ledger, claim),
    release: (processingId) => releaseInvoice(ledger, processingId),
  };
}

/** How often to look again when the holder gave up between our two statements; each round needs another rival. */
const roundsMax = 10;

/**
 * ```sql
 * insert into invoice_register (…) values (…) on conflict do nothing;
 * select processing_id from invoice_register
 *   where processing_id = $1 or invoice_key = $2
 *      or (tenant, supplier_id, invoice_number) = ($3, $4, $5)
 *   order by processing_id = $1 desc limit 1;
 * ```
 *
 * Any unique constraint may be the one in the way, therefore `on conflict` without a target.
 */
export async function claimInvoice(ledger: Ledger, claim: InvoiceClaim): Promise<ClaimResult> {
  const { processingId, invoiceKey, tenant, supplierId, invoiceNumber } = claim;
  for (let round = 1; round <= roundsMax; round += 1) {
    await sql`
      insert into invoice_register (processing_id, invoice_key, tenant, supplier_id, invoice_number)
      values (${processingId}, ${invoiceKey}, ${tenant}, ${supplierId}, ${invoiceNumber})
      on conflict do nothing`.execute(ledger);
    const { rows } = await sql<{ processing_id: string }>`
      select processing_id from invoice_register
      where processing_id = ${processingId} or invoice_key = ${invoiceKey}
         or (tenant, supplier_id, invoice_number) = (${tenant}, ${supplierId}, ${invoiceNumber})
      order by processing_id = ${processingId} desc
      limit 1`.execute(ledger);
    const holder = rows[0]?.processing_id;
    if (holder === processingId) return { held: "by-us" };
    if (holder !== undefined) return { held: "by-other", processingId: holder };
  }
  throw new Error(`The invoice ${invoiceKey} changed hands ${roundsMax} times while it was claimed.`);
}

/**
 * ```sql
 * delete from invoice_register where processing_id = $1
 * ```
 */
export async function releaseInvoice(ledger: Ledger, processingId: string): Promise<void> {
  await sql`delete from invoice_register where processing_id = ${processingId}`.execute(ledger);
}
