/** Hands in batches one after the other, and waits where the API asks for it. */
import type { Admitted, Answer, InvoiceOutcomeView, SubmitApi } from "./api-client.js";
import type { Page } from "./pages.js";

/** What became of a page, as far as it is known. */
export type PageStanding =
  | { readonly standing: "not-handed-in" }
  | { readonly standing: "refused"; readonly status: number; readonly name: string; readonly detail: string }
  | {
      readonly standing: "handed-in";
      readonly batchId: string;
      readonly statusUrl: string;
      /** The batch's, as the API last said it. */
      readonly state: string;
      /** `null` until all of the batch's invoices have ended. */
      readonly outcomes: readonly InvoiceOutcomeView[] | null;
    };

/** Why the rest was left, in one sentence; what was handed in until then stays handed in. */
export interface Stop {
  readonly reason: string;
  /** `refused`: the API doesn't want this caller; `failed`: it can't be used. */
  readonly kind: "refused" | "failed";
}

export interface Patience {
  /** Waits; a test's own returns at once. */
  readonly pause: (ms: number) => Promise<void>;
  /** Longest time without any progress: no batch admitted, no batch ended. In milliseconds. */
  readonly giveUpAfterMs: number;
  /** One line for whoever watches. */
  readonly progress: (line: string) => void;
}

/** Where the API doesn't say how long; it answers in milliseconds when nothing is wrong. */
const againMsDefault = 1_000;
/** Long enough to be no burden on an API where many wait for places, short enough that a place isn't left unused. */
const againMsMax = 60_000;
/** With the doubling waits about half a minute, in which a server restarts; after that somebody has to look. */
const troubleTriesMax = 6;

/** An API that can't be used, or a key that it doesn't take: the next batch would fare no better. */
export class HandingInStopped extends Error {
  override readonly name = "HandingInStopped";
  constructor(readonly stop: Stop) {
    super(stop.reason);
  }
}

/**
 * Asks until there is an answer. Each request stands under a key, so asking again never does anything twice.
 *
 * @throws HandingInStopped when it is of no use to go on
 */
export async function untilAnswered<Value>(
  api: SubmitApi,
  ask: () => Promise<Answer<Value>>,
  patience: Patience,
): Promise<Extract<Answer<Value>, { answer: "ok" | "refused" }>> {
  let troubles = 0;
  let waitedMs = 0;
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (answer.answer === "ok") return answer;
    if (answer.answer === "stranger") throw stopped("failed", `${api.url} isn't the API: ${answer.detail}.`);
    if (answer.answer === "refused") {
      if (answer.status !== 401 && answer.status !== 403) return answer;
      throw stopped(
        "refused",
        `The API refused the caller with ${answer.status} ${answer.name}: ${answer.detail}.`,
      );
    }
    const waitMs = Math.min(
      Math.max(answer.afterMs ?? againMsDefault, againMsDefault) * 2 ** (tries - 1),
      againMsMax,
    );
    if (answer.why === "trouble" && (troubles += 1) >= troubleTriesMax) {
      throw stopped(
        "failed",
        `${api.url} could not be reached or used in ${troubles} tries: ${answer.detail}.`,
      );
    }
    if (waitedMs + waitMs > patience.giveUpAfterMs) {
      const waited = Math.round(waitedMs / 1_000);
      throw stopped("failed", `Gave up after ${waited} s of waiting: ${answer.detail}.`);
    }
    patience.progress(`Waiting ${Math.round(waitMs / 1_000)} s: ${answer.detail}.`);
    await patience.pause(waitMs);
    waitedMs += waitMs;
  }
}

function stopped(kind: Stop["kind"], reason: string): HandingInStopped {
  return new HandingInStopped({ kind, reason });
}

/** @throws HandingInStopped */
export async function handIn(api: SubmitApi, page: Page, patience: Patience): Promise<PageStanding> {
  const answer = await untilAnswered<Admitted>(api, () => api.submit(page), patience);
  if (answer.answer === "refused") {
    const { status, name, detail } = answer;
    return { standing: "refused", status, name, detail };
  }
  return { standing: "handed-in", ...answer.value, outcomes: null };
}

export type HandedIn = Extract<PageStanding, { standing: "handed-in" }>;

/** How a batch that was handed in stands now. @throws HandingInStopped */
export async function look(api: SubmitApi, handedIn: HandedIn, patience: Patience): Promise<HandedIn> {
  const answer = await untilAnswered(api, () => api.batch(handedIn.batchId), patience);
  // It was there when it was handed in; a refusal now is for the person to read, not to be taken for an end.
  if (answer.answer === "refused") {
    throw stopped("failed", `The API doesn't show ${handedIn.batchId}: ${answer.detail}.`);
  }
  const { state, result } = answer.value;
  return { ...handedIn, state, outcomes: result?.outcomes ?? null };
}

/** A batch that moves no further by itself: it has ended, or it waits for a person's answer. */
export function isAtRest({ state }: HandedIn): boolean {
  return state === "completed" || state === "failed" || state === "parked";
}
