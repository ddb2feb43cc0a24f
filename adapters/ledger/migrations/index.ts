import { ledgerNow } from "./0000-ledger-now.js";
import { operations } from "./0001-operations.js";
import { payloads } from "./0002-payloads.js";
import { requests } from "./0003-requests.js";
import { outbox } from "./0004-outbox.js";
import { inbox } from "./0005-inbox.js";
import { tickets } from "./0006-tickets.js";
import { invoices } from "./0050-invoices.js";
import { operating } from "./0060-operating.js";
import type { Migration } from "./migration.js";

export type { Migration } from "./migration.js";

/** Every step of the ledger's schema, in order: `migrate` checks that the numbers rise. */
export const migrations: readonly Migration[] = [
  ledgerNow,
  operations,
  payloads,
  requests,
  outbox,
  inbox,
  tickets,
  invoices,
  operating,
];
