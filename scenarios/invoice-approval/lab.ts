/** The invoice process as the crash lab tests it. */
import { createHash } from "node:crypto";
import type { WorkflowHandle } from "@temporalio/client";
import canonicalize from "canonicalize";
import type { Effect } from "../../crash-lab/judge/evidence.js";
import { defineCrashLab, type Standing, type Story } from "../../crash-lab/lab-definition.js";
import { withoutRunTokens } from "../../crash-lab/taps/tokens.js";
import { packageRoot } from "../../platform/index.js";
import { batchWorkflowId, invoiceWorkflowId } from "../../workflows/invoice-approval/keys.js";
import {
  startInvoiceEnvironment,
  workerEntries,
  workerSpec,
  type InvoiceEnvironment,
} from "./environment.js";
import { demoPolicy, type InvoiceScenarioPolicy } from "./policy.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  storyDocuments,
} from "./stories/automatic.js";

const taskQueue = "invoice-lab";

/**
 * As in the demo, but for the workflow task: while runs are held, others must still come to their windows before the
 * server gives the held work out again. Two seconds hold a round of a dozen on two busy cores; a kill in a workflow
 * task is noticed that much later.
 */
const labPolicy: InvoiceScenarioPolicy = {
  ...demoPolicy,
  workflow: { ...demoPolicy.workflow, workflowTaskTimeoutMs: 2_000 },
};

/** One invoice that nobody has to look at. */
const samples = [automaticInvoices[0]!];

const automatic: Story<InvoiceEnvironment> = {
  tells: "One UBL invoice is read, checked and posted; nobody has to look at it.",
  victims: ["worker"],
  async start(environment, token) {
    for (const { documentId, mediaType, bytes } of await storyDocuments(packageRoot(), token, samples))
      await environment.world.control.putDocument(documentId, mediaType, withOwnNumber(bytes, token));
    await startBatch(environment.client, taskQueue, automaticBatch(token, labPolicy, samples));
    return [];
  },
  ended: (environment, token, signal) =>
    workflowEnded(environment, batchWorkflowId(`${token}-batch`), signal),
  workflowIds: (token) => [
    batchWorkflowId(`${token}-batch`),
    ...samples.map((sample) => invoiceWorkflowId(invoiceKeyOf(token, sample))),
  ],
};

/**
 * The same invoice with a number of this run's. The number is a business id, and stored content is addressed by its
 * digest alone: without the token in it, nobody could say whose write it was.
 */
function withOwnNumber(ubl: Uint8Array, token: string): Uint8Array {
  const text = new TextDecoder().decode(ubl);
  const numbered = text.replace(/<cbc:ID>([^<]+)<\/cbc:ID>/, `<cbc:ID>$1-${token}</cbc:ID>`);
  if (numbered === text) throw new Error("the sample has no invoice number to make its own");
  return new TextEncoder().encode(numbered);
}

/** Waits for the workflow's end; when the signal is aborted first, says what is pending. */
async function workflowEnded(
  { client }: InvoiceEnvironment,
  workflowId: string,
  signal: AbortSignal,
): Promise<Standing> {
  const handle = client.workflow.getHandle(workflowId);
  const closed = handle.result().then(
    (): Standing => ({ state: "closed" }),
    // A failed workflow has ended too; whether it should have is for its effects and invariants to say.
    (): Standing => ({ state: "closed" }),
  );
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  return (await Promise.race([closed, aborted])) ?? standingOf(handle);
}

async function standingOf(handle: WorkflowHandle): Promise<Standing> {
  const { status, raw } = await handle.describe();
  if (status.name !== "RUNNING") return { state: "closed" };
  const pending = (raw.pendingActivities ?? []).map(
    ({ activityType, attempt }) => `${activityType?.name ?? "activity"} (attempt ${attempt ?? 1})`,
  );
  const children = (raw.pendingChildren ?? []).map(({ workflowId }) => `child ${workflowId ?? ""}`);
  return { state: "open", pending: [...pending, ...children] };
}

/** What accounting and mail committed for the run, from their own journals. */
async function committedEffects({ world }: InvoiceEnvironment, token: string): Promise<Effect[]> {
  const entries = await world.journal.read({ run: token });
  return entries
    .filter(({ kind, operation }) => kind === "committed" && operation !== "put")
    .map(({ system, operation, key, content, seq }) => ({
      system,
      subject: withoutRunTokens(`${operation} ${key}`),
      contentDigest: createHash("sha256")
        .update(withoutRunTokens(canonicalize(withoutDigest(content))!))
        .digest("hex"),
      sequence: seq,
    }));
}

/** The payload's digest covers the run's own invoice number, so it can't be compared between runs; the rest is. */
function withoutDigest(content: unknown): unknown {
  if (typeof content !== "object" || content === null) return content;
  const { payloadDigest: _compared, ...rest } = content as Record<string, unknown>;
  return rest;
}

export const invoiceRoutes = {
  accounting: ["POST /postings", "GET /postings/{invoiceKey}"],
  documents: ["GET /documents/{documentId}"],
} as const;

/** @param entry the worker's program: the production one, or a scenario's variant of it */
function invoiceLab(name: string, entry: string) {
  return defineCrashLab<InvoiceEnvironment>({
    name,
    folder: `${packageRoot()}/scenarios/invoice-approval`,
    environment: (run) => startInvoiceEnvironment(run),
    peers: ({ temporal, ledgerUrl, world }) => ({
      temporal: { address: temporal.address, namespace: temporal.namespace },
      postgres: { ledger: ledgerUrl },
      http: {
        accounting: { url: world.accounting.baseUrl, routes: invoiceRoutes.accounting },
        documents: { url: world.documents.baseUrl, routes: invoiceRoutes.documents },
      },
    }),
    processes: {
      worker: (environment, { temporal, postgres, http }) =>
        workerSpec(environment, {
          entry,
          name: "worker",
          taskQueue,
          peers: {
            temporalAddress: temporal.address,
            ledgerUrl: postgres["ledger"]!,
            accountingUrl: http["accounting"]!,
            documentsUrl: http["documents"]!,
          },
        }),
    },
    stories: { automatic },
    effects: committedEffects,
    invariants: async ({ world }, token) => {
      const postings = (await world.journal.read({ run: token, system: "accounting" })).filter(
        ({ kind, operation }) => kind === "committed" && operation === "post",
      );
      const keys = new Set(postings.map(({ key }) => key));
      return [
        {
          name: "at most one posting for each invoice",
          holds: postings.length === keys.size,
          detail: `${postings.length} postings for ${keys.size} invoices`,
        },
      ];
    },
    replayBundle: async ({ bundlePath }) => ({ codePath: bundlePath }),
    profile: {
      name: "quick",
      workflowTaskTimeoutMs: labPolicy.workflow.workflowTaskTimeoutMs,
      deadlineMs: 30_000,
    },
  });
}

export const invoiceApprovalLab = invoiceLab("invoice-approval", workerEntries.safe);

/** The same story with the worker that posts as if nothing could go wrong. */
export const naiveInvoiceLab = invoiceLab("invoice-approval-naive", workerEntries.naive);
