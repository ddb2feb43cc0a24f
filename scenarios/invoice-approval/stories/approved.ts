/**
 * A batch in which people decide: one invoice needs an approval, one needs two, one is posted without anybody. The
 * reviewers act through the API, and only on what they have seen there: an open review.
 */
import type { InvoiceBatch } from "../../../workflows/invoice-approval/messages.js";
import { reviewIdOf, processingIdOf } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceScenarioPolicy } from "../policy.js";
import { automaticBatch, automaticInvoices, invoiceKeyOf, type SampleInvoice } from "./automatic.js";

const mediaType = "application/xml";

export const oneApprover: SampleInvoice = {
  name: "review",
  file: "needs-review.ubl.xml",
  mediaType,
  expected: "posted",
};
export const twoApprovers: SampleInvoice = {
  name: "two",
  file: "two-approvers.ubl.xml",
  mediaType,
  expected: "posted",
};
export const approvedInvoices: readonly SampleInvoice[] = [oneApprover, twoApprovers, automaticInvoices[0]!];

/** Who handed the batch in, which keeps them from deciding on it. */
export const submitter = "submitter";

export function approvedBatch(
  token: string,
  policy: InvoiceScenarioPolicy,
  samples: readonly SampleInvoice[] = approvedInvoices,
): InvoiceBatch {
  const batch = automaticBatch(token, policy, samples);
  return {
    ...batch,
    admission: {
      requestId: batch.batchId,
      submittedBy: submitter,
      reviewerMails: [`ann-${token}@reviewers.example`, `bob-${token}@reviewers.example`],
    },
  };
}

export function reviewOf(token: string, sample: SampleInvoice): string {
  return reviewIn(`${token}-batch`, token, sample);
}

/** The review of a sample in a batch with this id. */
export function reviewIn(batchId: string, token: string, sample: SampleInvoice): string {
  return reviewIdOf(processingIdOf(batchId, invoiceKeyOf(token, sample)), 1);
}

/** Someone with a key of the API. */
export interface ApiUser {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface SeenReview {
  readonly reviewId: string;
  readonly state: string;
  readonly revision: number;
  readonly fingerprint: string;
}

/** How often a reviewer looks whether the review is there. Only who watches waits for it. */
const lookEveryMs = 50;

/**
 * Waits until the review is there, as a person does who was told of it.
 *
 * @throws when the signal is aborted first, or the API answers with anything but "there" and "not there"
 */
export async function seeReview(user: ApiUser, reviewId: string, signal: AbortSignal): Promise<SeenReview> {
  for (;;) {
    const response = await fetch(`${user.baseUrl}/api/reviews/${encodeURIComponent(reviewId)}`, {
      headers: { Authorization: `Bearer ${user.apiKey}` },
      signal,
    });
    if (response.ok) return (await response.json()) as SeenReview;
    if (response.status !== 404) throw new Error(`The API answered ${response.status} for ${reviewId}.`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

export interface DecisionAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Decides on what was seen. */
export async function decide(
  user: ApiUser,
  { reviewId, revision, fingerprint }: SeenReview,
  decisionId: string,
  decision: "approve" | "reject",
): Promise<DecisionAnswer> {
  const response = await fetch(`${user.baseUrl}/api/reviews/${encodeURIComponent(reviewId)}/decisions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${user.apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ decisionId, decision, revision, fingerprint }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
