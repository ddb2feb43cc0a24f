/** The shortest story: the worker alone, started by the lab in the place of API and relay. */
import type { Story } from "../../../crash-lab/lab-definition.js";
import { packageRoot } from "../../../platform/index.js";
import { batchWorkflowId, invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceEnvironment } from "../environment.js";
import { labPolicy } from "../lab-settings.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  storyDocuments,
  withOwnNumber,
} from "../stories/automatic.js";
import { batchEnded } from "./ending.js";

/** One invoice that nobody has to look at. */
const samples = [automaticInvoices[0]!];

export function automaticStory(
  taskQueueOf: (environment: InvoiceEnvironment) => string,
): Story<InvoiceEnvironment> {
  return {
    tells: "One UBL invoice is read, checked and posted; nobody has to look at it.",
    victims: ["worker"],
    processes: ["worker"],
    async start(environment, token, { profile }) {
      for (const { documentId, mediaType, bytes } of await storyDocuments(packageRoot(), token, samples))
        await environment.world.control.putDocument(documentId, mediaType, withOwnNumber(bytes, token));
      const batch = automaticBatch(token, labPolicy(profile), samples);
      await startBatch(environment.client, taskQueueOf(environment), batch);
      return [];
    },
    ended: (environment, token, signal) => batchEnded(environment, `${token}-batch`, signal),
    workflowIds: (token) => [
      batchWorkflowId(`${token}-batch`),
      ...samples.map((sample) => invoiceWorkflowId(invoiceKeyOf(token, sample))),
    ],
  };
}
