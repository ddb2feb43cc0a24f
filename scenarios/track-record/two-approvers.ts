/** What the variants of the two-approver case share: the invoice, its figures, and what is judged. */
import type { InvoicePosting } from "../../activities/ports.js";
import { decide, twoApprovers, type ApiUser, type SeenReview } from "../invoice-approval/stories/approved.js";
import { demoPolicy } from "../invoice-approval/policy.js";
import { documentIdOf, invoiceKeyOf } from "../invoice-approval/stories/automatic.js";
import type { ManagedProcess } from "../../platform/index.js";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";
import type { Outcome, Side } from "./case.js";
import type { NaiveApproval } from "./naive/messages.js";
import { settled, startWorker, type Play, type Stage, type WorkerChoice } from "./stage.js";

/**
 * Time for two people's clicks and a kill on a busy machine, and no more: one variant waits for it to pass while
 * nobody is there.
 */
export const deadlineMs = 10_000;

export const policy: InvoicePolicy = { ...demoPolicy.workflow, review: { deadlineMs } };
/** Where the deadline isn't what the variant is about. */
export const patientPolicy: InvoicePolicy = { ...demoPolicy.workflow, review: { deadlineMs: 600_000 } };

export const sample = twoApprovers;

export const keyOf = ({ token }: Play): string => invoiceKeyOf(token, sample);

export const referenceOf = (play: Play, revision = 1) => ({
  invoiceKey: keyOf(play),
  documentId: documentIdOf(play.token, sample),
  revision,
});

export function naiveApprovalOf(play: Play, waitMs: number): NaiveApproval {
  const { invoiceKey, documentId } = referenceOf(play);
  const reviewers = ["ann", "bob"].map((id) => `${id}-${play.token}@reviewers.example`);
  return { invoiceKey, documentId, approvalsNeeded: 2, deadlineMs: waitMs, reviewers };
}

/** A worker of either side; the naive one sends its mails itself. */
export function startSide(
  stage: Stage,
  play: Play,
  side: Side,
  choice: Omit<WorkerChoice, "entry"> & { readonly mailUrl?: string },
) {
  const { mailUrl, ...rest } = choice;
  if (side === "right") return startWorker(stage, play, { ...rest, entry: "services/worker/main.js" });
  const { mail } = stage.environment.world;
  return startWorker(stage, play, {
    ...rest,
    entry: "scenarios/track-record/naive/approval-worker.js",
    env: {
      WORKFLOW_BUNDLE: stage.naiveBundle,
      MAIL_URL: mailUrl ?? mail.baseUrl,
      MAIL_API_KEY: mail.apiKey,
      ...rest.env,
    },
  });
}

/** @throws Error when the API answers otherwise than it has to in this story */
export async function expectAnswer(
  user: ApiUser,
  seen: SeenReview,
  decision: { readonly id: string; readonly decision: "approve" | "reject"; readonly answer: string },
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await decide(user, seen, decision.id, decision.decision);
  const answer = String(body["answer"] ?? body["type"]);
  if (!answer.endsWith(decision.answer)) {
    throw new Error(
      `${decision.id} was answered ${status} ${JSON.stringify(body)}; the story needs ${decision.answer}`,
    );
  }
  return body;
}

/** An approval by what the approver saw. */
export interface Approval {
  readonly by: string;
  readonly amountMinor: number;
}

/**
 * The end of a play: nothing is on its way any more, its processes are stopped, and accounting's journal is compared
 * with what was approved.
 */
export async function conclude(
  stage: Stage,
  play: Play,
  {
    processes,
    approvals,
    inside,
  }: {
    readonly processes: readonly ManagedProcess[];
    readonly approvals: () => Promise<readonly Approval[]> | readonly Approval[];
    readonly inside: string;
  },
): Promise<Outcome> {
  await settled(stage, play);
  const approved = await approvals();
  const postings = await stage.environment.world.journal.postingsOf(keyOf(play));
  await Promise.all(processes.map((each) => each.stop()));
  return judgePostings(
    postings.map(({ posting }) => posting),
    approved,
    inside,
  );
}

/** Posted once, over what each of two people approved? */
export function judgePostings(
  postings: readonly InvoicePosting[],
  approvals: readonly Approval[],
  inside: string,
): Outcome {
  const approvers = new Set(approvals.map(({ by }) => by));
  const [first] = postings;
  const isOfAll = approvals.every(({ amountMinor }) => amountMinor === first?.amountMinor);
  const outside =
    `${postings.length} posting(s)${first ? ` over ${postings.map(({ amountMinor }) => amountMinor).join(" and ")}` : ""}` +
    `; approved: ${approvals.map(({ by, amountMinor }) => `${amountMinor} by ${by}`).join(", ")}`;
  const verdict = (): Outcome["verdict"] => {
    if (postings.length > 1) return "duplicated";
    if (first === undefined) return "lost";
    return approvers.size === 2 && isOfAll ? "once" : "diverged";
  };
  return { verdict: verdict(), outside, inside };
}
