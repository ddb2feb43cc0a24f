/**
 * One invoice, one kill, at the place that matters most: accounting has committed the posting, and nothing of it has
 * been recorded on our side yet.
 */
import type { WorkflowHandle } from "@temporalio/client";
import {
  forward,
  type BoundaryEvent,
  type Decision,
  type TapController,
} from "../../crash-lab/taps/event.js";
import { openHttpTap } from "../../crash-lab/taps/http/http-tap.js";
import { newRunToken } from "../../crash-lab/taps/tokens.js";
import type { ManagedProcess, Run } from "../../platform/index.js";
import { packageRoot } from "../../platform/index.js";
import {
  directPeers,
  workerEntries,
  workerSpec,
  type InvoiceEnvironment,
} from "../../scenarios/invoice-approval/environment.js";
import { demoPolicy } from "../../scenarios/invoice-approval/policy.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  storyDocuments,
} from "../../scenarios/invoice-approval/stories/automatic.js";
import type { JournaledPosting } from "../../scenarios/world/journal.js";
import type { invoiceBatch } from "../../workflows/invoice-approval/invoice-batch.js";
import type { InvoiceBatchResult } from "../../workflows/invoice-approval/messages.js";

export type Variant = keyof typeof workerEntries;

/** The one invoice of the demo. */
export const demoInvoice = automaticInvoices[0]!;

export interface KillObserved {
  readonly variant: Variant;
  readonly invoiceKey: string;
  readonly victim: { readonly pid: number; readonly signal: string | null };
  readonly successor: { readonly pid: number };
  readonly workflowId: string;
  readonly result: InvoiceBatchResult;
  /** From the kill to the end of the workflow, in milliseconds. */
  readonly recoverMs: number;
  /** What accounting's own journal says. */
  readonly postings: readonly JournaledPosting[];
}

export interface KillSteps {
  readonly run: Run;
  readonly environment: InvoiceEnvironment;
  readonly variant: Variant;
  /** Called with what has just happened. */
  readonly tell: (line: string) => void;
}

export async function killAfterPosting(steps: KillSteps): Promise<KillObserved> {
  const { run, environment, variant, tell } = steps;
  const token = newRunToken();
  const taskQueue = `demo-${variant}`;
  const invoiceKey = invoiceKeyOf(token, demoInvoice);

  const answer = new HeldAnswer(token);
  const tap = await openHttpTap({
    process: variant,
    name: "accounting",
    upstream: environment.world.accounting.baseUrl,
    routes: ["POST /postings", "GET /postings/{invoiceKey}"],
    controller: answer,
  });
  run.onClose(`tap of the ${variant} worker`, () => tap.close());
  const direct = directPeers(environment);
  const startWorker = (name: string, accountingUrl: string): Promise<ManagedProcess> =>
    run.spawn(
      workerSpec(environment, {
        entry: workerEntries[variant],
        name,
        taskQueue,
        peers: { ...direct, accountingUrl },
      }),
    );

  const first = await startWorker(`${variant}-1`, `http://127.0.0.1:${tap.port}`);
  tell(`Worker ${first.pid} takes the invoice: it reads the file, checks it, and posts it.`);
  const { handle, workflowId } = await startStory(environment, token, taskQueue);
  const ended = resultOf(environment, handle, run.closing);
  await Promise.race([answer.arrived, ended.then(endedTooEarly)]);
  await environment.world.journal.until(({ kind, key }) => kind === "committed" && key === invoiceKey, {
    run: token,
    system: "accounting",
    timeoutMs: 10_000,
  });
  tell(
    "Accounting has committed the posting. Its answer is held on the way back: our side knows nothing of it.",
  );

  const killedAt = Date.now();
  const { signal } = await first.kill("SIGKILL");
  answer.drop();
  tell(`Worker ${first.pid} is killed: ${signal ?? "it ended by itself"}.`);
  const second = await startWorker(`${variant}-2`, direct.accountingUrl);
  tell(`Worker ${second.pid} takes over where Temporal's history ends: before the posting was heard of.`);
  const result = await ended;
  const recoverMs = Date.now() - killedAt;
  const postings = await environment.world.journal.postingsOf(invoiceKey);
  await second.stop();
  const victim = { pid: first.pid, signal };
  return {
    variant,
    invoiceKey,
    victim,
    successor: { pid: second.pid },
    workflowId,
    result,
    recoverMs,
    postings,
  };
}

async function startStory(
  environment: InvoiceEnvironment,
  token: string,
  taskQueue: string,
): Promise<{ handle: WorkflowHandle<typeof invoiceBatch>; workflowId: string }> {
  for (const document of await storyDocuments(packageRoot(), token, [demoInvoice]))
    await environment.world.control.putDocument(document.documentId, document.mediaType, document.bytes);
  const batch = automaticBatch(token, demoPolicy, [demoInvoice]);
  const handle = await startBatch(environment.client, taskQueue, batch);
  return { handle, workflowId: handle.workflowId };
}

/**
 * The workflow's result, waited for until the run closes. A call that is still waiting when the connection is closed
 * would be tried again by the client on a channel that is gone, and end the process with that error.
 */
function resultOf(
  { client }: InvoiceEnvironment,
  handle: WorkflowHandle<typeof invoiceBatch>,
  closing: AbortSignal,
): Promise<InvoiceBatchResult> {
  const result = client.withAbortSignal(closing, () => handle.result());
  // Whoever waits sees the failure; when the demo has stopped for another reason, nobody does.
  result.catch(() => undefined);
  return result;
}

/** The workflow must not end while its posting is held: then there was no posting. */
function endedTooEarly(result: InvoiceBatchResult): never {
  throw new Error(`the invoice ended before it was posted: ${JSON.stringify(result)}`);
}

/** Holds accounting's first answer to this run's posting until the worker is dead. */
class HeldAnswer implements TapController {
  readonly arrived: Promise<void>;
  #arrive!: () => void;
  #drop!: (decision: Decision) => void;
  readonly #until: Promise<Decision>;
  #holding = false;

  constructor(private readonly token: string) {
    this.arrived = new Promise((resolve) => (this.#arrive = resolve));
    this.#until = new Promise((resolve) => (this.#drop = resolve));
  }

  decide(event: BoundaryEvent): Decision {
    const isOurs = event.side === "after" && event.access === "write" && event.runTokens.includes(this.token);
    if (!isOurs || this.#holding) return forward;
    this.#holding = true;
    this.#arrive();
    return { do: "hold", until: this.#until };
  }

  drop(): void {
    this.#drop({ do: "drop" });
  }
}
