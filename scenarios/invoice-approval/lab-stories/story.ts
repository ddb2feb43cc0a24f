/** A story of the invoice process as data, and how the lab plays it: handed in over HTTP, ended by its workflows. */
import type { Told } from "../../../crash-lab/judge/evidence.js";
import type { Stage, Standing, Story, StoryHold } from "../../../crash-lab/lab-definition.js";
import { packageRoot } from "../../../platform/index.js";
import { batchWorkflowId, invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import type { FaultInput } from "../../world/control.js";
import type { InvoiceEnvironment } from "../environment.js";
import type { SettingsName } from "../lab-settings.js";
import {
  documentIdOf,
  invoiceKeyOf,
  storyDocuments,
  withOwnNumber,
  type SampleInvoice,
} from "../stories/automatic.js";
import { submit, submittedBatchId, type Scene } from "./callers.js";
import { batchEnded, invoiceParked } from "./ending.js";

/** Of a union, each member without the field. */
type Without<Union, Field extends PropertyKey> = Union extends unknown ? Omit<Union, Field> : never;

export interface InvoiceScene extends Scene {
  readonly environment: InvoiceEnvironment;
}

export interface InvoiceStory {
  /** One sentence for people. */
  readonly tells: string;
  /** Default: what most stories share. */
  readonly settings?: SettingsName;
  /** The one invoice that is handed in. */
  readonly invoice: SampleInvoice;
  /** What the outside world is told to suffer from before the story begins. */
  readonly faults?: readonly Without<FaultInput, "run">[];
  /** What people do on what they see. */
  readonly act?: (scene: InvoiceScene) => Promise<readonly Told[]>;
  /** The key of the batch whose end is the story's end, by the run's token. Default: that of the first one. */
  readonly lastBatch?: (token: string) => string;
  /** A question that nobody in this story answers is an end too. Default: no. */
  readonly parks?: boolean;
  readonly holds?: readonly StoryHold<InvoiceEnvironment>[];
}

export const apiProcess = "api";

/** The key under which a run's batch is handed in. */
export const firstBatch = (token: string): string => `${token}-batch`;

/** A caller that can't hand its batch in for this long, in milliseconds, has found something worse than a crash. */
const handInMsMax = 30_000;

export function storyOf(story: InvoiceStory, victims: readonly string[]): Story<InvoiceEnvironment> {
  const { invoice, lastBatch = firstBatch } = story;
  const batchKeys = (token: string): string[] => [...new Set([firstBatch(token), lastBatch(token)])];
  return {
    tells: story.tells,
    victims,
    ...(story.settings ? { settings: story.settings } : {}),
    ...(story.holds ? { holds: story.holds } : {}),
    start: async (environment, token, stage) => {
      await prepare(environment, story, token);
      const scene = sceneOf(environment, token, AbortSignal.timeout(handInMsMax), stage);
      return [await submit(scene, { key: firstBatch(token), invoices: [referenceOf(token, invoice, 1)] })];
    },
    ...(story.act && {
      drive: (environment, token, signal, stage) => story.act!(sceneOf(environment, token, signal, stage)),
    }),
    ended: (environment, token, signal) =>
      ended(environment, story, { batchId: submittedBatchId(lastBatch(token)), token, signal }),
    workflowIds: (token) => [
      ...batchKeys(token).map((key) => batchWorkflowId(submittedBatchId(key))),
      invoiceWorkflowId(invoiceKeyOf(token, invoice)),
    ],
  };
}

export function referenceOf(token: string, invoice: SampleInvoice, revision: number) {
  return {
    invoiceKey: invoiceKeyOf(token, invoice),
    documentId: documentIdOf(token, invoice),
    revision,
  };
}

async function prepare(
  { world }: InvoiceEnvironment,
  { invoice, faults = [] }: InvoiceStory,
  token: string,
): Promise<void> {
  for (const { documentId, mediaType, bytes } of await storyDocuments(packageRoot(), token, [invoice]))
    await world.control.putDocument(documentId, mediaType, withOwnNumber(bytes, token));
  for (const fault of faults) await world.control.tellFault({ ...fault, run: token } as FaultInput);
}

function sceneOf(
  environment: InvoiceEnvironment,
  token: string,
  signal: AbortSignal,
  { ingress }: Stage,
): InvoiceScene {
  return { environment, office: environment.office, apiUrl: ingress[apiProcess]!, token, signal };
}

async function ended(
  environment: InvoiceEnvironment,
  { invoice, parks = false }: InvoiceStory,
  { batchId, token, signal }: { batchId: string; token: string; signal: AbortSignal },
): Promise<Standing> {
  if (!parks) return batchEnded(environment, batchId, signal);
  const other = new AbortController();
  const either = AbortSignal.any([signal, other.signal]);
  try {
    return await Promise.race([
      batchEnded(environment, batchId, either),
      invoiceParked(environment, invoiceKeyOf(token, invoice), either),
    ]);
  } finally {
    // The one that lost the race asks no more.
    other.abort();
  }
}
