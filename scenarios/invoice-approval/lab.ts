/** The invoice process as the crash lab tests it. */
import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import {
  defineCrashLab,
  type LabProfile,
  type Standing,
  type Story,
} from "../../crash-lab/lab-definition.js";
import { packageRoot } from "../../platform/index.js";
import { batchWorkflowId, invoiceWorkflowId } from "../../workflows/invoice-approval/keys.js";
import { effectsOf, untilSettled } from "../world/effects.js";
import { invoiceEvidence } from "./evidence.js";
import { invoiceInvariants } from "./invariants.js";
import {
  invoiceEnvironmentBeside,
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

/** Lanes kill their own workers, so none may take another's work. */
const taskQueueOf = ({ lane }: InvoiceEnvironment): string =>
  lane === undefined ? "invoice-lab" : `invoice-lab-${lane}`;

/** A run that hasn't ended this long after its fault is stuck. */
const deadlineMs = 30_000;

/**
 * Real time-outs. While runs are held, others must still come to their windows before the server gives the held work
 * out again: two seconds hold a round of a dozen on two busy cores; a kill in a workflow task is noticed that much later.
 */
const quick: LabProfile = { name: "quick", workflowTaskTimeoutMs: 2_000, deadlineMs };

/** Nobody waits for these time-outs, so they have room for a full round on a busy machine. */
const obituary: LabProfile = { name: "obituary", workflowTaskTimeoutMs: 8_000, deadlineMs, obituary: true };

/**
 * As in the demo, with the profile's patience. A delivered activity is held no longer than a heartbeat may be missing, so
 * that is made to fit; longer would make the recovery of an activity the slowest in a round.
 */
function labPolicy({ workflowTaskTimeoutMs }: LabProfile): InvoiceScenarioPolicy {
  const activity = { ...demoPolicy.workflow.activity, heartbeatMs: 0.75 * workflowTaskTimeoutMs };
  return { ...demoPolicy, workflow: { ...demoPolicy.workflow, workflowTaskTimeoutMs, activity } };
}

/** Longer than a call to an outside system may take; the world of this story has no fault that commits later. */
const settledMsMax = 15_000;

/** One invoice that nobody has to look at. */
const samples = [automaticInvoices[0]!];

const automatic: Story<InvoiceEnvironment> = {
  tells: "One UBL invoice is read, checked and posted; nobody has to look at it.",
  victims: ["worker"],
  async start(environment, token, { profile }) {
    for (const { documentId, mediaType, bytes } of await storyDocuments(packageRoot(), token, samples))
      await environment.world.control.putDocument(documentId, mediaType, withOwnNumber(bytes, token));
    const batch = automaticBatch(token, labPolicy(profile), samples);
    await startBatch(environment.client, taskQueueOf(environment), batch);
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
  try {
    // Without the signal the question would be asked on, also when nobody is there any more to hear the answer.
    await client.connection.withAbortSignal(signal, () => handle.result());
  } catch (error) {
    // A failed workflow has ended too; whether it should have is for its effects and invariants to say.
    if (!(error instanceof WorkflowFailedError)) return standingOf(handle);
  }
  return { state: "closed" };
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

export const invoiceRoutes = {
  accounting: ["POST /postings", "GET /postings"],
  documents: ["GET /documents/{documentId}"],
} as const;

/** @param entry the worker's program: the production one, or a scenario's variant of it */
function invoiceLab(name: string, entry: string) {
  return defineCrashLab<InvoiceEnvironment>({
    name,
    folder: `${packageRoot()}/scenarios/invoice-approval`,
    environment: (run) => startInvoiceEnvironment(run),
    lane: invoiceEnvironmentBeside,
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
          taskQueue: taskQueueOf(environment),
          peers: {
            temporalAddress: temporal.address,
            ledgerUrl: postgres["ledger"]!,
            accountingUrl: http["accounting"]!,
            documentsUrl: http["documents"]!,
          },
        }),
    },
    stories: { automatic },
    settled: ({ world }, token) => untilSettled(world.journal, token, { timeoutMs: settledMsMax }),
    effects: ({ world }, token) => effectsOf(world.journal, token),
    invariants: invoiceInvariants,
    evidence: invoiceEvidence,
    replayBundle: async ({ bundlePath }) => ({ codePath: bundlePath }),
    profile: quick,
    otherProfiles: [obituary],
  });
}

export const invoiceApprovalLab = invoiceLab("invoice-approval", workerEntries.safe);

/** The same story with the worker that posts as if nothing could go wrong. */
export const naiveInvoiceLab = invoiceLab("invoice-approval-naive", workerEntries.naive);
