/** What every case is played on: real processes around one ledger, one Temporal server and one outside world. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { openTemporalTap } from "../../crash-lab/taps/temporal/temporal-tap.js";
import { openHttpTap } from "../../crash-lab/taps/http/http-tap.js";
import { newRunToken } from "../../crash-lab/taps/tokens.js";
import { packageRoot, type ManagedProcess, type Run } from "../../platform/index.js";
import { compiledEntry } from "../../platform/package-root.js";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";
import {
  directPeers,
  startInvoiceEnvironment,
  workerSpec,
  type InvoiceEnvironment,
} from "../invoice-approval/environment.js";
import { relaySpec } from "../invoice-approval/processes.js";
import type { SampleInvoice } from "../invoice-approval/stories/automatic.js";
import { documentIdOf, storyDocuments, withOwnNumber } from "../invoice-approval/stories/automatic.js";
import type { ApiUser } from "../invoice-approval/stories/approved.js";
import { untilSettled } from "../world/effects.js";
import type { HeldMessage } from "./held-message.js";

export interface Stage {
  readonly run: Run;
  readonly environment: InvoiceEnvironment;
  /** Workflow code of the naive sides, beside the environment's own bundle. */
  readonly naiveBundle: string;
}

/** @throws UserFacingError when a part can't be had */
export async function openStage(run: Run, progress: (line: string) => void): Promise<Stage> {
  const naiveBundle = join(run.folder, "naive-workflows.js");
  const [environment] = await Promise.all([
    startInvoiceEnvironment(run, { progress }),
    bundleWorkflowCode({
      workflowsPath: compiledEntry("scenarios/track-record/naive/workflows.js"),
      logger: new DefaultLogger("WARN"),
    }).then(({ code }) => writeFile(naiveBundle, code)),
  ]);
  return { run, environment, naiveBundle };
}

/** One play of one side: its token is in every business id, and its task queue is its own. */
export interface Play {
  readonly token: string;
  readonly taskQueue: string;
}

export function newPlay(): Play {
  const token = newRunToken();
  return { token, taskQueue: token };
}

/**
 * The sample's text with a number of this play's own: where accounting takes a number once, plays would otherwise get
 * into each other's way.
 */
export async function sampleText({ token }: Play, sample: SampleInvoice): Promise<string> {
  const [document] = await storyDocuments(packageRoot(), token, [sample]);
  return new TextDecoder().decode(withOwnNumber(document!.bytes, token));
}

/** Puts the text into the document store in the sample's place, also over what is there. */
export function putText(
  { environment }: Stage,
  { token }: Play,
  sample: SampleInvoice,
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  return environment.world.control.putDocument(documentIdOf(token, sample), sample.mediaType, bytes);
}

export async function putSample(stage: Stage, play: Play, sample: SampleInvoice): Promise<void> {
  await putText(stage, play, sample, await sampleText(play, sample));
}

/** Longer than any outside system works on a request, also on a busy machine. */
const settledMsMax = 30_000;

/** Resolves when nothing of the play is on its way inside the outside systems any more. */
export function settled({ environment }: Stage, { token }: Play): Promise<void> {
  return untilSettled(environment.world.journal, token, { timeoutMs: settledMsMax });
}

export interface WorkerChoice {
  readonly entry: string;
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is held of the worker's talk with Temporal. */
  readonly hold?: HeldMessage;
}

export async function startWorker(stage: Stage, play: Play, choice: WorkerChoice): Promise<ManagedProcess> {
  const { run, environment } = stage;
  const peers = directPeers(environment);
  const name = `${choice.name}-${play.token}`;
  const temporalAddress =
    choice.hold === undefined ? peers.temporalAddress : await tapTemporal(stage, name, choice.hold);
  const spec = workerSpec(environment, {
    entry: choice.entry,
    name,
    taskQueue: play.taskQueue,
    peers: { ...peers, temporalAddress },
  });
  return run.spawn({ ...spec, env: { ...spec.env, ...choice.env } });
}

async function tapTemporal({ run, environment }: Stage, name: string, hold: HeldMessage): Promise<string> {
  const [host, port] = environment.temporal.address.split(":");
  const tap = await openTemporalTap({
    process: name,
    controller: hold,
    upstream: { host: host!, port: Number(port) },
  });
  run.onClose(`tap between ${name} and Temporal`, () => tap.close());
  return `127.0.0.1:${tap.port}`;
}

/** A tap in front of the mail system. @returns its base URL */
export async function tapMail({ run, environment }: Stage, name: string, hold: HeldMessage): Promise<string> {
  const tap = await openHttpTap({
    process: name,
    name: "mail",
    upstream: environment.world.mail.baseUrl,
    routes: ["POST /messages"],
    controller: hold,
  });
  run.onClose(`tap between ${name} and mail`, () => tap.close());
  return `http://127.0.0.1:${tap.port}`;
}

export interface RelayChoice {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function startRelay(
  { run, environment }: Stage,
  play: Play,
  choice: RelayChoice,
): Promise<ManagedProcess> {
  const { temporal, ledgerUrl, world } = environment;
  const spec = relaySpec(environment, {
    name: `${choice.name}-${play.token}`,
    ledgerUrl,
    temporalAddress: temporal.address,
    mailUrl: world.mail.baseUrl,
  });
  return run.spawn({
    ...spec,
    env: {
      ...spec.env,
      // A killed relay's claims are free again after the lease, which a send must not outlive.
      RELAY_SEND_TIMEOUT_MS: "2000",
      RELAY_LEASE_MS: "3000",
      RELAY_POLL_MS: "200",
      ...choice.env,
    },
  });
}

export type Caller = "ann" | "bob" | "submitter";

/** The API process, with a submitter and two reviewers who have a mail address. */
export async function startApi(
  { run, environment }: Stage,
  play: Play,
  policy: InvoicePolicy,
): Promise<Readonly<Record<Caller, ApiUser>>> {
  const { token, taskQueue } = play;
  const keyOf = (id: Caller) => `${token}-key-of-${id}`;
  const callerOf = (id: Caller) => ({
    id: `${token}-${id}`,
    tenant: token,
    roles: [id === "submitter" ? "submitter" : "reviewer"],
    keySha256: createHash("sha256").update(keyOf(id)).digest("hex"),
    ...(id === "submitter" ? {} : { mail: `${id}-${token}@reviewers.example` }),
  });
  const write = async (name: string, content: object) => {
    const file = join(run.folder, `${name}-${token}.json`);
    await writeFile(file, JSON.stringify(content));
    return file;
  };
  const { ready } = await run.spawn({
    name: `api-${token}`,
    entry: "services/api/main.js",
    env: {
      LEDGER_URL: environment.ledgerUrl,
      API_CALLERS_FILE: await write("callers", {
        callers: (["ann", "bob", "submitter"] as const).map(callerOf),
      }),
      INVOICE_POLICY_FILE: await write("policy", policy),
      TEMPORAL_TASK_QUEUE: taskQueue,
    },
  });
  const baseUrl = `http://127.0.0.1:${String(ready["port"])}`;
  const user = (id: Caller): ApiUser => ({ baseUrl, apiKey: keyOf(id) });
  return { ann: user("ann"), bob: user("bob"), submitter: user("submitter") };
}

/** Hands a batch of one invoice in. @returns its batch id */
export async function submit(
  { baseUrl, apiKey }: ApiUser,
  invoice: { readonly invoiceKey: string; readonly documentId: string; readonly revision: number },
): Promise<string> {
  const response = await fetch(`${baseUrl}/api/invoice-batches`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${apiKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `${invoice.invoiceKey}-r${invoice.revision}`,
    },
    body: JSON.stringify({ invoices: [invoice] }),
  });
  if (response.status !== 202)
    throw new Error(`the API answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { batchId: string }).batchId;
}
