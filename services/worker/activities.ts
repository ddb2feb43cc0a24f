/** The worker's activities with the adapters that they run on. */
import { createInvoiceActivities, type InvoiceActivities } from "../../activities/invoice-approval/index.js";
import type { Accounting } from "../../activities/ports.js";
import type { Ledger } from "../../adapters/ledger/database.js";
import { createIgnoredHints } from "../../adapters/ledger/invoices/ignored-hints.js";
import { createPayloadNames } from "../../adapters/ledger/invoices/payload-names.js";
import { createRecoveryQueue } from "../../adapters/ledger/invoices/recovery.js";
import { createInvoiceRegister } from "../../adapters/ledger/invoices/register.js";
import { createRequestBook } from "../../adapters/ledger/invoices/request-book.js";
import { createReviewDesk } from "../../adapters/ledger/invoices/reviews.js";
import { createOperationJournal } from "../../adapters/ledger/operations/journal.js";
import { createPayloadStore } from "../../adapters/ledger/payloads/payload-store.js";
import { createAccountingProvider, createDocumentStore } from "../../adapters/providers/index.js";
import { readSupplierDirectory } from "../../adapters/suppliers/file.js";
import { accountingPolicy, type WorkerSettings } from "./settings.js";

/** Called once for a process: what `perform` knows about the process's own calls belongs to the journal made here. */
export async function wireActivities(
  settings: WorkerSettings,
  ledger: Ledger,
  workerIdentity: string,
): Promise<InvoiceActivities> {
  return createInvoiceActivities({
    documents: createDocumentStore({
      baseUrl: settings.DOCUMENTS_URL,
      apiKey: settings.DOCUMENTS_API_KEY,
      timeoutMs: settings.PROVIDER_TIMEOUT_MS,
    }),
    accounting: wireAccounting(settings),
    suppliers: await readSupplierDirectory(settings.SUPPLIERS_FILE),
    payloads: createPayloadStore(ledger),
    names: createPayloadNames(ledger),
    register: createInvoiceRegister(ledger),
    reviews: createReviewDesk(ledger),
    recovery: createRecoveryQueue(ledger),
    hints: createIgnoredHints(ledger),
    requests: createRequestBook(ledger),
    journal: createOperationJournal(ledger),
    workerIdentity,
  });
}

export function wireAccounting(settings: WorkerSettings): Accounting {
  return createAccountingProvider({
    baseUrl: settings.ACCOUNTING_URL,
    apiKey: settings.ACCOUNTING_API_KEY,
    timeoutMs: settings.PROVIDER_TIMEOUT_MS,
    policy: accountingPolicy(settings),
  });
}
