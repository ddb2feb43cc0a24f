/** Postings as the accounting system takes and shows them. Amounts are whole minor units (cents). */
import type pg from "pg";
import { z } from "zod";

const text = (charactersMax: number) =>
  z
    .string(`must be a text of 1 to ${charactersMax} characters`)
    .min(1, `must have 1 to ${charactersMax} characters`)
    .max(charactersMax, `must have 1 to ${charactersMax} characters`);

export const postingRequestSchema = z.strictObject({
  /** The client's own reference. */
  invoiceKey: text(200),
  revision: z.int("must be a whole number from 1").min(1, "must be a whole number from 1"),
  supplierId: text(100),
  invoiceNumber: text(100),
  currency: z.string("must be three capital letters").regex(/^[A-Z]{3}$/, "must be three capital letters"),
  amountMinor: z.int("must be a whole number of minor units"),
  /** Whatever the client proves its document with; this system only keeps it. */
  payloadDigest: text(128),
});
export type PostingRequest = z.infer<typeof postingRequestSchema>;

export const postingSchema = z.strictObject({
  /** This system's own number of the entry: `GL-17`. */
  entryReference: z.string(),
  ...postingRequestSchema.shape,
  committedAt: z.iso.datetime(),
});
export type Posting = z.infer<typeof postingSchema>;

interface PostingRow {
  entry_number: string;
  invoice_key: string;
  revision: number;
  supplier_id: string;
  invoice_number: string;
  currency: string;
  amount_minor: string;
  payload_digest: string;
  committed_at: Date;
}

export async function insertPosting(
  client: pg.PoolClient,
  posting: PostingRequest,
  origin: "client" | "manual",
): Promise<Posting> {
  const { rows } = await client.query<PostingRow>(
    `insert into postings
       (invoice_key, revision, supplier_id, invoice_number, currency, amount_minor, payload_digest, origin)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning *`,
    [
      posting.invoiceKey,
      posting.revision,
      posting.supplierId,
      posting.invoiceNumber,
      posting.currency,
      posting.amountMinor,
      posting.payloadDigest,
      origin,
    ],
  );
  return fromRow(rows[0]!);
}

/** @param lagMs only postings committed at least this long ago, by the clock of the database. */
export async function findPostings(pool: pg.Pool, invoiceKey: string, lagMs: number): Promise<Posting[]> {
  const { rows } = await pool.query<PostingRow>(
    `select * from postings
     where invoice_key = $1 and committed_at <= clock_timestamp() - $2 * interval '1 millisecond'
     order by entry_number`,
    [invoiceKey, lagMs],
  );
  return rows.map(fromRow);
}

export async function postingWithNumber(
  client: pg.PoolClient,
  { supplierId, invoiceNumber }: Pick<PostingRequest, "supplierId" | "invoiceNumber">,
): Promise<Posting | undefined> {
  const { rows } = await client.query<PostingRow>(
    "select * from postings where supplier_id = $1 and invoice_number = $2 order by entry_number limit 1",
    [supplierId, invoiceNumber],
  );
  return rows[0] && fromRow(rows[0]);
}

function fromRow(row: PostingRow): Posting {
  return {
    entryReference: `GL-${row.entry_number}`,
    invoiceKey: row.invoice_key,
    revision: row.revision,
    supplierId: row.supplier_id,
    invoiceNumber: row.invoice_number,
    currency: row.currency,
    amountMinor: Number(row.amount_minor),
    payloadDigest: row.payload_digest,
    committedAt: row.committed_at.toISOString(),
  };
}
