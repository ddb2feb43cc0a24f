/** The worker of the naive approval: each attempt of a step is a new request to whoever it is about. */
import { createHash, randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { readInvoice } from "../../../activities/invoice-approval/invoice-document/read-invoice.js";
import { createDocumentStore, createMailProvider } from "../../../adapters/providers/index.js";
import { wireAccounting } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";
import type { WorkerSettings } from "../../../services/worker/settings.js";
import type { NaiveApproval } from "./messages.js";

export type NaiveActivities = ReturnType<typeof naiveActivities>;

function naiveActivities(settings: WorkerSettings, mailUrl: string, mailApiKey: string) {
  const accounting = wireAccounting(settings);
  const documents = createDocumentStore({
    baseUrl: settings.DOCUMENTS_URL,
    apiKey: settings.DOCUMENTS_API_KEY,
    timeoutMs: settings.PROVIDER_TIMEOUT_MS,
  });
  const mail = createMailProvider({
    baseUrl: mailUrl,
    apiKey: mailApiKey,
    timeoutMs: settings.PROVIDER_TIMEOUT_MS,
    policy: { honoursKeys: true, keysLiveForMs: null, canFind: false, settleMs: 0, parkAfterMs: 0 },
  });
  const done = (answer: { readonly outcome: string }) => {
    if (answer.outcome === "done") return;
    throw ApplicationFailure.retryable(`answered ${answer.outcome}`, "NotDone");
  };
  return {
    async postDocument({ invoiceKey, documentId }: NaiveApproval): Promise<void> {
      const signal = Context.current().cancellationSignal;
      const { bytes } = await documents.fetch(documentId, signal);
      const invoice = await readInvoice(bytes);
      const posting = {
        invoiceKey,
        revision: 1,
        supplierId: invoice.supplier.vatId,
        invoiceNumber: invoice.number,
        currency: invoice.currency,
        amountMinor: invoice.totals.grossMinor,
        payloadDigest: createHash("sha256").update(bytes).digest("hex"),
      };
      done(await accounting.send(posting, { providerKey: randomUUID(), signal }));
    },
    async sendReminder({ invoiceKey }: NaiveApproval, to: string): Promise<void> {
      const message = {
        reference: `reminder:${invoiceKey}:${to}`,
        to,
        subject: `Invoice ${invoiceKey} waits for a review`,
        text: `Please look at ${invoiceKey}.`,
      };
      const signal = Context.current().cancellationSignal;
      done(await mail.send(message, { providerKey: randomUUID(), signal }));
    },
  };
}

await runWorkerProcess((settings) =>
  Promise.resolve(
    naiveActivities(settings, process.env["MAIL_URL"] ?? "", process.env["MAIL_API_KEY"] ?? ""),
  ),
);
