import type { Generated } from "kysely";

/** Immutable content. Rows are only ever added. */
export interface PayloadTable {
  /** SHA-256 of `content`, in lower-case hex; the database checks it. */
  readonly digest: string;
  /** What the content is, as the first one to store it called it: `extracted-invoice`. For people. */
  readonly kind: string;
  /** Canonical JSON (RFC 8785), kept as text: `jsonb` would change the bytes, and with them the digest. */
  readonly content: string;
  readonly stored_at: Generated<Date>;
}

export interface PayloadTables {
  payloads: PayloadTable;
}
