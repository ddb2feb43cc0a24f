import { ledgerNow } from "./0000-ledger-now.js";
import type { Migration } from "./migration.js";

export type { Migration } from "./migration.js";

/** Every step of the ledger's schema, in order: `migrate` checks that the numbers rise. */
export const migrations: readonly Migration[] = [ledgerNow];
