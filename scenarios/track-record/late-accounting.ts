/** An approved invoice is posted to an accounting system that commits later than its client waits. */
import type { WorkflowHandle } from "@temporalio/client";
import type { ManagedProcess } from "../../platform/index.js";
import { invoiceWorkflowId, postingKey } from "../../workflows/invoice-approval/keys.js";
import type { invoiceBatch } from "../../workflows/invoice-approval/invoice-batch.js";
import type { InvoiceOutcome, VisibleFailure } from "../../workflows/invoice-approval/messages.js";
import { workerEntries } from "../invoice-approval/environment.js";
import { demoPolicy, type InvoiceScenarioPolicy } from "../invoice-approval/policy.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
} from "../invoice-approval/stories/automatic.js";
import type { FaultInput } from "../world/control.js";
import type { Outcome, PublicCase, Side, Variant } from "./case.js";
import { until } from "./seen.js";
import { newPlay, putSample, settled, startWorker, type Play, type Stage } from "./stage.js";

/** The figures of the case: the commit comes four seconds late, the client waits one, and tries again soon. */
const commitLateMs = 4_000;
const clientWaitsMs = 1_000;
const retryMs = 200;
/** Worst commit latency plus lag of what shows, and a second for the way. */
const settleMs = 5_500;

const sample = automaticInvoices[0]!;

const policy: InvoiceScenarioPolicy = {
  ...demoPolicy,
  workflow: {
    ...demoPolicy.workflow,
    activity: {
      ...demoPolicy.workflow.activity,
      retryInitialMs: retryMs,
      retryMaximumMs: retryMs,
      // Only a killed worker may stop beating; a busy machine must not make a second attempt of its own.
      heartbeatMs: 5_000,
    },
  },
};

const entries: Readonly<Record<Side, string>> = {
  naive: "scenarios/track-record/naive/late-accounting-worker.js",
  right: workerEntries.safe,
};

/** Without whose and where. */
type FaultOfAccounting = FaultInput extends infer Fault
  ? Fault extends FaultInput
    ? Omit<Fault, "run" | "system">
    : never
  : never;

interface LateStory extends Pick<Variant, "id" | "tells" | "expected"> {
  readonly honoursKeys: boolean;
  readonly faults: readonly FaultOfAccounting[];
  /** Acts while the first request is under way. */
  readonly meanwhile?: (scene: Scene) => Promise<void>;
}

interface Scene {
  readonly stage: Stage;
  readonly play: Play;
  readonly worker: ManagedProcess;
  readonly startAnother: () => Promise<ManagedProcess>;
}

const lateOnce = { kind: "lateCommit", operation: "post", ms: commitLateMs, times: 1 } as const;
const lateAlways = { kind: "lateCommit", operation: "post", ms: commitLateMs } as const;

const stories: readonly LateStory[] = [
  {
    id: "a",
    tells: "Accounting honours idempotency keys; the retry arrives before the commit.",
    expected: { naive: "duplicated", right: "once" },
    honoursKeys: true,
    faults: [lateOnce],
  },
  {
    id: "b",
    tells: "No keys, but a document number is taken once: who comes after the commit hears 409 exists.",
    expected: { naive: "lost", right: "once" },
    honoursKeys: false,
    faults: [{ kind: "noKeys" }, { kind: "uniqueNumber" }, lateAlways],
    meanwhile: repairAfterCommit,
  },
  {
    id: "b-other-amount",
    tells: "The same, and what exists is a clerk's entry over another amount.",
    expected: { naive: "lost", right: "parked" },
    honoursKeys: false,
    faults: [{ kind: "noKeys" }, { kind: "exists", amountMinor: 1 }],
  },
  {
    id: "c",
    tells: "Neither keys nor unique numbers; accounting can be asked by our reference.",
    expected: { naive: "duplicated", right: "once" },
    honoursKeys: false,
    faults: [{ kind: "noKeys" }, lateOnce],
  },
  {
    id: "d",
    tells: "The same, and the worker is killed while its first request is under way.",
    expected: { naive: "duplicated", right: "once" },
    honoursKeys: false,
    faults: [{ kind: "noKeys" }, lateOnce],
    meanwhile: killTheSender,
  },
];

export const lateAccounting: PublicCase = {
  id: "O5",
  title: "Accounting commits later than we wait",
  sources: ["getlago/lago-api #5450, #5482, #3207"],
  happened:
    "A client gave up on a slow accounting system and sent the document again while the first request was still being " +
    "worked on. Where numbers were unique the retry failed and the link to the document was never stored; elsewhere " +
    "there were two documents.",
  variants: stories.map((story) => ({ ...story, play: (stage, side) => playLate(story, stage, side) })),
};

async function playLate(story: LateStory, stage: Stage, side: Side): Promise<Outcome> {
  const play = newPlay();
  const { client, world } = stage.environment;
  await putSample(stage, play, sample);
  for (const fault of story.faults) {
    await world.control.tellFault({ ...fault, run: play.token, system: "accounting" } as FaultInput);
  }
  const start = (name: string) =>
    startWorker(stage, play, {
      entry: entries[side],
      name: `${side}-${name}`,
      env: {
        PROVIDER_TIMEOUT_MS: String(clientWaitsMs),
        ACCOUNTING_HONOURS_KEYS: story.honoursKeys ? "yes" : "no",
        ACCOUNTING_SETTLE_MS: String(settleMs),
      },
    });
  const worker = await start("1");
  const workers = [worker];
  const startAnother = async () => {
    const another = await start(String(workers.length + 1));
    workers.push(another);
    return another;
  };
  const handle = await startBatch(client, play.taskQueue, automaticBatch(play.token, policy, [sample]));
  await world.journal.until(({ kind, operation }) => kind === "received" && operation === "post", {
    run: play.token,
    system: "accounting",
    timeoutMs: 60_000,
  });
  await story.meanwhile?.({ stage, play, worker, startAnother });
  const ours = await untilEndedOrParked(stage, play, handle);
  await settled(stage, play);
  const outcome = await judge(stage, play, ours);
  await Promise.all(workers.map((each) => each.stop()));
  return outcome;
}

/** From its first commit on accounting is quick again, so the next retry hears what there is. */
async function repairAfterCommit({ stage, play }: Scene): Promise<void> {
  const { journal, control } = stage.environment.world;
  await journal.until(({ kind }) => kind === "committed", {
    run: play.token,
    system: "accounting",
    timeoutMs: 60_000,
  });
  const faults = await control.faults(play.token);
  const late = faults.filter(({ fault }) => fault.kind === "lateCommit");
  for (const { id } of late) await control.removeFault(id);
}

async function killTheSender({ worker, startAnother }: Scene): Promise<void> {
  await worker.kill("SIGKILL");
  await startAnother();
}

type Ours = InvoiceOutcome | VisibleFailure | { readonly outcome: "parked" };

/** The invoice's end, or that it waits for a person. */
async function untilEndedOrParked(
  { environment, run }: Stage,
  { token }: Play,
  handle: WorkflowHandle<typeof invoiceBatch>,
): Promise<Ours> {
  const found = new AbortController();
  const subject = postingKey(invoiceKeyOf(token, sample));
  const asked = () =>
    environment.ledger
      .selectFrom("recovery_queue")
      .select("reason")
      .where("subject", "=", subject)
      .where("answered_at", "is", null)
      .executeTakeFirst();
  const parked = until(
    AbortSignal.any([run.closing, found.signal]),
    `an end of ${invoiceWorkflowId(invoiceKeyOf(token, sample))}`,
    async () => (await asked()) !== undefined,
  ).then((): Ours => ({ outcome: "parked" }));
  const ended = environment.client
    .withAbortSignal(AbortSignal.any([run.closing, found.signal]), () => handle.result())
    .then(({ outcomes }): Ours => outcomes[0]!);
  try {
    return await Promise.race([ended, parked]);
  } finally {
    found.abort();
    await Promise.allSettled([ended, parked]);
  }
}

async function judge({ environment }: Stage, { token }: Play, ours: Ours): Promise<Outcome> {
  const { journal } = environment.world;
  const postings = await journal.postingsOf(invoiceKeyOf(token, sample));
  const [first] = postings;
  const told = "entryReference" in ours ? `posted as ${ours.entryReference}` : "";
  const inside = told || ("type" in ours ? `failed: ${ours.type}` : ours.outcome);
  const outside = `${postings.length} posting(s)${first ? ` over ${first.posting.amountMinor}` : ""}`;
  const verdict = (): Outcome["verdict"] => {
    if (postings.length > 1) return "duplicated";
    if (ours.outcome === "parked") return "parked";
    if (ours.outcome !== "posted" || first === undefined) return "lost";
    return ours.amountMinor === first.posting.amountMinor &&
      ours.payloadDigest === first.posting.payloadDigest
      ? "once"
      : "diverged";
  };
  return { verdict: verdict(), outside, inside };
}
