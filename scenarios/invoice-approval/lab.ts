/** The invoice process as the crash lab tests it: API, relay and worker, each behind taps of its own. */
import { defineCrashLab, type LabProfile, type Story } from "../../crash-lab/lab-definition.js";
import { packageRoot } from "../../platform/index.js";
import { effectsOf } from "../world/effects.js";
import { invoiceEvidence } from "./evidence.js";
import { invoiceInvariants } from "./invariants.js";
import {
  invoiceEnvironmentBeside,
  startInvoiceEnvironment,
  workerEntries,
  workerSpec,
  type InvoiceEnvironment,
} from "./environment.js";
import { labSettings } from "./lab-settings.js";
import { automaticStory } from "./lab-stories/automatic.js";
import { invoiceExpectations } from "./lab-stories/expectations.js";
import { invoiceStories } from "./lab-stories/stories.js";
import { apiProcess, storyOf } from "./lab-stories/story.js";
import { apiSpec, relaySpec } from "./processes.js";
import { settled } from "./settled.js";

/** Lanes kill their own workers, so none may take another's work. */
const taskQueueOf = ({ lane }: InvoiceEnvironment): string =>
  lane === undefined ? "invoice-lab" : `invoice-lab-${lane}`;

/** A run that hasn't ended this long after its fault is stuck. A machine with other work must not look like one. */
const deadlineMs = 60_000;

/**
 * Real time-outs. While runs are held, others must still come to their windows before the server gives the held work
 * out again: two seconds hold a round of a dozen on two busy cores; a kill in a workflow task is noticed that much later.
 */
const quick: LabProfile = { name: "quick", workflowTaskTimeoutMs: 2_000, deadlineMs };

/** Nobody waits for these time-outs, so they have room for a full round on a busy machine. */
const obituary: LabProfile = { name: "obituary", workflowTaskTimeoutMs: 8_000, deadlineMs, obituary: true };

export const invoiceRoutes = {
  accounting: ["POST /postings", "GET /postings"],
  documents: ["GET /documents/{documentId}"],
  mail: ["POST /messages"],
  api: [
    "POST /api/invoice-batches",
    "GET /api/invoice-batches/{batchId}",
    "GET /api/reviews/{reviewId}",
    "POST /api/reviews/{reviewId}/decisions",
  ],
} as const;

const yesOrNo = (is: boolean): string => (is ? "yes" : "no");

const automatic = automaticStory(taskQueueOf);

/** Everything over HTTP, from handing in to mail and posting; each of the three processes is killed in its windows. */
const wholeStories: Record<string, Story<InvoiceEnvironment>> = Object.fromEntries(
  Object.entries(invoiceStories).map(
    ([name, story]) => [name, storyOf(story, ["worker", "api", "relay"])] as const,
  ),
);

/** @param entry the worker's program: the production one, or a scenario's variant of it */
function invoiceLab(
  name: string,
  entry: string,
  stories: Readonly<Record<string, Story<InvoiceEnvironment>>> = { automatic },
) {
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
        mail: { url: world.mail.baseUrl, routes: invoiceRoutes.mail },
      },
    }),
    processes: {
      worker: (environment, { temporal, postgres, http }, { settings, profile }) => {
        const { policy, accounting } = labSettings(settings, profile);
        const spec = workerSpec(environment, {
          entry,
          name: "worker",
          taskQueue: taskQueueOf(environment),
          peers: {
            temporalAddress: temporal.address,
            ledgerUrl: postgres["ledger"]!,
            accountingUrl: http["accounting"]!,
            documentsUrl: http["documents"]!,
          },
        });
        const told = {
          ACCOUNTING_HONOURS_KEYS: yesOrNo(accounting.honoursKeys),
          ACCOUNTING_CAN_FIND: yesOrNo(accounting.canFind),
          ACCOUNTING_SETTLE_MS: String(policy.accounting.settleMs),
        };
        return { ...spec, env: { ...spec.env, ...told } };
      },
      relay: (environment, { temporal, postgres, http }) =>
        relaySpec(environment, {
          name: "relay",
          temporalAddress: temporal.address,
          ledgerUrl: postgres["ledger"]!,
          mailUrl: http["mail"]!,
        }),
      [apiProcess]: (environment, { postgres }, { settings, profile }) =>
        apiSpec(environment, {
          name: apiProcess,
          taskQueue: taskQueueOf(environment),
          ledgerUrl: postgres["ledger"]!,
          policyFile: environment.office.policyFile(labSettings(settings, profile).policy.workflow),
        }),
    },
    ingress: { [apiProcess]: { routes: invoiceRoutes.api, port: ({ port }) => port as number } },
    stories,
    settled,
    effects: ({ world }, token) => effectsOf(world.journal, token),
    invariants: invoiceInvariants,
    evidence: invoiceEvidence,
    replayBundle: async ({ bundlePath }) => ({ codePath: bundlePath }),
    expectations: invoiceExpectations,
    profile: quick,
    otherProfiles: [obituary],
  });
}

export const invoiceApprovalLab = invoiceLab("invoice-approval", workerEntries.safe, {
  automatic,
  ...wholeStories,
});

/** The same story with the worker that posts as if nothing could go wrong. */
export const naiveInvoiceLab = invoiceLab("invoice-approval-naive", workerEntries.naive);
