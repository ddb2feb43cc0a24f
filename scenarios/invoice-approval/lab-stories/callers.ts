/**
 * The people of a story, as callers of the API who don't give up: a broken connection tells nothing, so they send
 * the same again under the same key, and a second answer to the same is the first one's.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Told } from "../../../crash-lab/judge/evidence.js";
import type { InvoiceReference } from "../../../activities/invoice-approval/steps.js";
import { batchIdOf } from "../../../services/api/batch-id.js";
import type { Office, Person } from "../office.js";
import { decide, seeReview, type ApiUser } from "../stories/approved.js";

/** What a person needs to call. */
export interface Scene {
  readonly office: Office;
  /** Of the API, whichever process serves it. */
  readonly apiUrl: string;
  readonly token: string;
  /** Aborted when there is nobody left to act for. */
  readonly signal: AbortSignal;
}

/** How soon somebody whose call broke tries again. Only a retry waits for it. */
const againAfterMs = 50;

export function userOf({ office, apiUrl }: Scene, person: Person): ApiUser {
  return { baseUrl: apiUrl, apiKey: office.keys[person] };
}

/** The answer couldn't be had: the connection broke, or whoever serves has no ledger just now. */
class Unanswered extends Error {
  override readonly name = "Unanswered";
}

/** @throws what `call` throws, unless it only had no answer and there is still somebody to act for */
export async function persistently<Result>(
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      // What `fetch` throws for a connection that broke or was refused.
      if (signal.aborted || !(error instanceof TypeError || error instanceof Unanswered)) throw error;
    }
    await delay(againAfterMs, undefined, { signal });
  }
}

export interface Submission {
  /** What the caller calls it: repeated, it is the same batch. */
  readonly key: string;
  readonly invoices: readonly InvoiceReference[];
}

/** The idempotency keys of a run's batches carry its token, and so do the ids made from them. */
export function submittedBatchId(key: string): string {
  return batchIdOf("submitter" satisfies Person, key);
}

const unavailable = 503;

/** Hands a batch in. @throws Error when it is refused, which no story means */
export async function submit(scene: Scene, { key, invoices }: Submission): Promise<Told> {
  const { baseUrl, apiKey } = userOf(scene, "submitter");
  return persistently(scene.signal, async () => {
    const response = await fetch(`${baseUrl}/api/invoice-batches`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${apiKey}`,
        "Content-Type": "application/json",
        "Idempotency-Key": key,
      },
      body: JSON.stringify({ invoices }),
      signal: scene.signal,
    });
    const body = (await response.json()) as { readonly batchId?: string; readonly detail?: string };
    if (response.status === unavailable) throw new Unanswered(body.detail);
    if (!response.ok) throw new Error(`The API answered ${response.status} to ${key}: ${body.detail}`);
    if (body.batchId !== submittedBatchId(key))
      throw new Error(`The API called ${key} ${body.batchId}, and not ${submittedBatchId(key)}.`);
    return { request: `POST /api/invoice-batches ${key}`, status: response.status };
  });
}

/** Waits until the review is there and decides on what was seen. @returns the answer, whatever it is */
export async function decideWhenOpen(
  scene: Scene,
  person: Person,
  reviewId: string,
  decision: "approve" | "reject",
): Promise<Told> {
  const user = userOf(scene, person);
  const seen = await persistently(scene.signal, () => seeReview(user, reviewId, scene.signal));
  // Made by the one who decides, so that sending it again is the same decision.
  const decisionId = `${scene.token}-${person}-${decision}`;
  return persistently(scene.signal, async () => {
    const { status } = await decide(user, seen, decisionId, decision);
    if (status === unavailable) throw new Unanswered();
    return { request: `POST /api/reviews/${reviewId}/decisions ${decisionId}`, status };
  });
}

/** The result of a batch as its submitter sees it, once there is one. */
export async function resultOf(scene: Scene, key: string): Promise<{ readonly failures: number }> {
  const { baseUrl, apiKey } = userOf(scene, "submitter");
  const url = `${baseUrl}/api/invoice-batches/${encodeURIComponent(submittedBatchId(key))}`;
  for (;;) {
    const seen = await persistently(scene.signal, async () => {
      const response = await fetch(url, {
        headers: { Authorization: `Bearer ${apiKey}` },
        signal: scene.signal,
      });
      if (response.status === unavailable) throw new Unanswered();
      if (!response.ok) throw new Error(`The API answered ${response.status} for ${url}.`);
      return (await response.json()) as { readonly result: { readonly failures: number } | null };
    });
    if (seen.result !== null) return seen.result;
    await delay(againAfterMs, undefined, { signal: scene.signal });
  }
}
