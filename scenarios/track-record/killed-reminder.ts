/** Whoever sends the reviewers' mails is killed when the mail system has sent one, and doesn't know it. */
import type { ManagedProcess } from "../../platform/index.js";
import type { Outcome, Side } from "./case.js";
import { answerTo } from "./held-message.js";
import { naiveApproval } from "./naive/messages.js";
import { until } from "./seen.js";
import {
  newPlay,
  putSample,
  settled,
  startApi,
  startRelay,
  submit,
  tapMail,
  type Play,
  type Stage,
} from "./stage.js";
import { keyOf, naiveApprovalOf, patientPolicy, referenceOf, sample, startSide } from "./two-approvers.js";

const reviewers = 2;

/** @param keys does the mail system know a message again by its key? */
export async function playKilledReminder(stage: Stage, side: Side, keys: boolean): Promise<Outcome> {
  const play = newPlay();
  const { world } = stage.environment;
  await putSample(stage, play, sample);
  if (!keys) await world.control.tellFault({ kind: "noKeys", run: play.token, system: "mail" });
  const hold = answerTo(play.token);
  hold.arm();
  const mailUrl = await tapMail(stage, `${side}-mail-${play.token}`, hold);
  const cast =
    side === "right" ? await castRight(stage, play, mailUrl, keys) : await castNaive(stage, play, mailUrl);

  await hold.arrived;
  await cast.victim.kill("SIGKILL");
  hold.drop();
  const successor = await cast.succeed();
  await until(stage.run.closing, `an end of the mails of ${play.token}`, () =>
    mailsHaveEnded(stage, play, side),
  );
  await settled(stage, play);
  const outcome = await judge(stage, play);
  await Promise.all([successor, ...cast.others].map((each) => each.stop()));
  return outcome;
}

interface Cast {
  readonly victim: ManagedProcess;
  /** Starts whoever takes over, without a tap. */
  readonly succeed: () => Promise<ManagedProcess>;
  readonly others: readonly ManagedProcess[];
}

async function castRight(stage: Stage, play: Play, mailUrl: string, keys: boolean): Promise<Cast> {
  const { submitter } = await startApi(stage, play, patientPolicy);
  // Without keys the relay is told that what was sent can't be known again.
  const env: Record<string, string> = keys ? {} : { MAIL_KEYS_LIVE_MS: "1" };
  const worker = await startSide(stage, play, "right", { name: "right-1" });
  const victim = await startRelay(stage, play, { name: "relay-1", env: { ...env, MAIL_URL: mailUrl } });
  await submit(submitter, referenceOf(play));
  return { victim, succeed: () => startRelay(stage, play, { name: "relay-2", env }), others: [worker] };
}

async function castNaive(stage: Stage, play: Play, mailUrl: string): Promise<Cast> {
  const victim = await startSide(stage, play, "naive", { name: "naive-1", mailUrl });
  await stage.environment.client.workflow.start(naiveApproval, {
    workflowId: `naive-approval:${keyOf(play)}`,
    taskQueue: play.taskQueue,
    args: [naiveApprovalOf(play, 600_000)],
  });
  return { victim, succeed: () => startSide(stage, play, "naive", { name: "naive-2" }), others: [] };
}

/** On the right side each mail's row is settled; on the naive one each reviewer has got one at least. */
async function mailsHaveEnded(stage: Stage, play: Play, side: Side): Promise<boolean> {
  if (side === "naive")
    return recipientsOf(await mailsOf(stage, play)).size === reviewers && (await reminded(stage, play));
  const { rows } = await outboxOf(stage, play);
  return rows.length === reviewers && rows.every(({ state }) => state === "sent" || state === "failed");
}

async function reminded({ environment }: Stage, play: Play): Promise<boolean> {
  const handle = environment.client.workflow.getHandle(`naive-approval:${keyOf(play)}`);
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes).length === reviewers;
}

async function judge(stage: Stage, play: Play): Promise<Outcome> {
  const mails = await mailsOf(stage, play);
  const { rows } = await outboxOf(stage, play);
  const asked = rows.filter(({ state }) => state === "failed").length;
  const perReviewer = [...recipientsOf(mails)].map((to) => mails.filter((mail) => mail === to).length);
  const verdict = (): Outcome["verdict"] => {
    if (perReviewer.some((count) => count > 1)) return "duplicated";
    if (perReviewer.length < reviewers) return "lost";
    return asked > 0 ? "parked" : "once";
  };
  return {
    verdict: verdict(),
    outside: `${mails.length} mail(s) to ${perReviewer.length} reviewer(s)`,
    inside: asked > 0 ? `${asked} question(s) to a person` : "reminded",
  };
}

const recipientsOf = (mails: readonly string[]) => new Set(mails);

async function mailsOf({ environment }: Stage, { token }: Play): Promise<readonly string[]> {
  const entries = await environment.world.journal.read({ run: token, system: "mail" });
  return entries
    .filter(({ kind }) => kind === "committed")
    .map(({ content }) => (content as { to: string }).to);
}

async function outboxOf({ environment }: Stage, { token }: Play) {
  const rows = await environment.ledger
    .selectFrom("outbox")
    .select("state")
    .where("message_key", "like", `mail:%${token}%`)
    .execute();
  return { rows };
}
