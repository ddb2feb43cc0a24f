/** What the API shows of a review: who approved, and over what. */
import type { ApiUser } from "../invoice-approval/stories/approved.js";
import type { Approval } from "./two-approvers.js";

/** @throws Error when the API doesn't show the review */
export async function approvalsOf(
  { baseUrl, apiKey }: ApiUser,
  reviewId: string,
): Promise<readonly Approval[]> {
  const response = await fetch(`${baseUrl}/api/reviews/${encodeURIComponent(reviewId)}`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  if (!response.ok) throw new Error(`the API answered ${response.status} for ${reviewId}`);
  const { decisions, content } = (await response.json()) as {
    decisions: { caller: string; decision: string }[];
    content: { totals: { grossMinor: number } };
  };
  return decisions
    .filter(({ decision }) => decision === "approve")
    .map(({ caller }) => ({ by: caller.replace(/^.*-/, ""), amountMinor: content.totals.grossMinor }));
}
