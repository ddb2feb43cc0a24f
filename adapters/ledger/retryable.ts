import { setTimeout as delay } from "node:timers/promises";

/** What a failed call on the database means for the caller. */
export interface RetryableFailure {
  readonly meaning: string;
  /**
   * Could the write have been committed although the call failed? If so, nothing is sent again before the row was
   * read back by its key.
   */
  readonly mayHaveHappened: boolean;
  /** Shortest wait before the next try; doubled with each further one, and cut at `delayMsMax`. */
  readonly delayMs: number;
}

/** The server has to start again or be found again first; a second at the least, or the tries are spent in vain. */
const serverGoneMs = 1_000;
/** Another transaction was in the way, and those of the ledger last milliseconds. */
const contentionMs = 20;

/**
 * Every failure after which the same call may be made again. A code that isn't here is not retried: a wrong
 * statement, a broken constraint or a missing right gives the same answer the next time.
 */
export const retryableCodes: Readonly<Record<string, RetryableFailure>> = {
  // Answers of the server: it rolled back, and says so.
  "40001": { meaning: "serialisation failure", mayHaveHappened: false, delayMs: contentionMs },
  "40P01": {
    meaning: "deadlock, and this transaction was chosen",
    mayHaveHappened: false,
    delayMs: contentionMs,
  },
  "55P03": { meaning: "lock not granted within lock_timeout", mayHaveHappened: false, delayMs: contentionMs },
  "57014": {
    meaning: "statement cancelled, or over statement_timeout",
    mayHaveHappened: false,
    delayMs: 200,
  },
  "25P03": { meaning: "transaction idle for too long", mayHaveHappened: false, delayMs: contentionMs },
  "25P04": { meaning: "transaction over transaction_timeout", mayHaveHappened: false, delayMs: 200 },
  "25006": {
    meaning: "server is read-only, as in a fail-over",
    mayHaveHappened: false,
    delayMs: serverGoneMs,
  },
  "53000": { meaning: "server short of resources", mayHaveHappened: false, delayMs: serverGoneMs },
  "53100": { meaning: "server's disk full", mayHaveHappened: false, delayMs: serverGoneMs },
  "53200": { meaning: "server out of memory", mayHaveHappened: false, delayMs: serverGoneMs },
  "53300": { meaning: "too many connections", mayHaveHappened: false, delayMs: serverGoneMs },
  "57P03": { meaning: "server starting or stopping", mayHaveHappened: false, delayMs: serverGoneMs },
  "57P05": { meaning: "session closed for being idle", mayHaveHappened: false, delayMs: contentionMs },
  "08001": { meaning: "connection couldn't be made", mayHaveHappened: false, delayMs: serverGoneMs },
  "08004": { meaning: "server refused the connection", mayHaveHappened: false, delayMs: serverGoneMs },
  // Answers that say that the session ended, perhaps between the commit and its acknowledgement.
  "57P01": {
    meaning: "session ended by an administrator or a stop",
    mayHaveHappened: true,
    delayMs: serverGoneMs,
  },
  "57P02": { meaning: "server crashed", mayHaveHappened: true, delayMs: serverGoneMs },
  "08000": { meaning: "connection failed", mayHaveHappened: true, delayMs: serverGoneMs },
  "08003": { meaning: "connection gone", mayHaveHappened: true, delayMs: serverGoneMs },
  "08006": { meaning: "connection lost", mayHaveHappened: true, delayMs: serverGoneMs },
  "08007": { meaning: "outcome of the transaction unknown", mayHaveHappened: true, delayMs: serverGoneMs },
  "40003": { meaning: "outcome of the statement unknown", mayHaveHappened: true, delayMs: serverGoneMs },
  // The operating system, before a connection stood.
  ECONNREFUSED: { meaning: "nothing listens there", mayHaveHappened: false, delayMs: serverGoneMs },
  ENOTFOUND: { meaning: "host name unknown", mayHaveHappened: false, delayMs: serverGoneMs },
  EAI_AGAIN: { meaning: "name server silent", mayHaveHappened: false, delayMs: serverGoneMs },
  // The operating system, at any time: also while an acknowledgement was on its way.
  ECONNRESET: { meaning: "connection reset", mayHaveHappened: true, delayMs: serverGoneMs },
  ECONNABORTED: { meaning: "connection given up", mayHaveHappened: true, delayMs: serverGoneMs },
  EPIPE: { meaning: "connection closed while writing", mayHaveHappened: true, delayMs: serverGoneMs },
  ETIMEDOUT: { meaning: "network silent", mayHaveHappened: true, delayMs: serverGoneMs },
  EHOSTUNREACH: { meaning: "host unreachable", mayHaveHappened: true, delayMs: serverGoneMs },
  ENETUNREACH: { meaning: "network unreachable", mayHaveHappened: true, delayMs: serverGoneMs },
};

/** Failures that the driver reports with a message and no code. */
export const retryableMessages: Readonly<Record<string, RetryableFailure>> = {
  "timeout exceeded when trying to connect": {
    meaning: "no connection free in the pool",
    mayHaveHappened: false,
    delayMs: 200,
  },
  "Connection terminated due to connection timeout": {
    meaning: "server too slow to accept the connection",
    mayHaveHappened: false,
    delayMs: serverGoneMs,
  },
  "Connection terminated unexpectedly": {
    meaning: "connection lost",
    mayHaveHappened: true,
    delayMs: serverGoneMs,
  },
  "Connection terminated": { meaning: "connection closed", mayHaveHappened: true, delayMs: serverGoneMs },
  "Client has encountered a connection error and is not queryable": {
    meaning: "connection lost before",
    mayHaveHappened: true,
    delayMs: serverGoneMs,
  },
  "Query read timeout": { meaning: "no answer in time", mayHaveHappened: true, delayMs: serverGoneMs },
};

/** Longest wait between two tries, in milliseconds: a server is back within seconds or needs a person. */
const delayMsMax = 10_000;

/** What a failure means, or `undefined` when the same call must not simply be made again. */
export function meaningOf(error: unknown): RetryableFailure | undefined {
  if (typeof error !== "object" || error === null) {
    return undefined;
  }
  const { code, message, errors } = error as {
    code?: unknown;
    message?: unknown;
    errors?: readonly unknown[];
  };
  if (Array.isArray(errors) && errors.length > 0) {
    // One error for each address of a host name, and the first one's code on top; the worst of them counts.
    const meanings = errors.map(meaningOf);
    return meanings.includes(undefined)
      ? undefined
      : (meanings.find((meaning) => meaning?.mayHaveHappened) ?? meanings[0]);
  }
  if (typeof code === "string") {
    return retryableCodes[code];
  }
  return typeof message === "string" ? retryableMessages[message] : undefined;
}

export interface RetryOptions<Result> {
  /**
   * Reads by the call's own key whether an uncertain write is there; `undefined` when it isn't. "Not there" can
   * still become "there": the session of the lost call may be about to commit. So the call must be one that does
   * no harm the second time, by a unique key or by a condition in its `where`, as every verb of the ledger is;
   * reading back gives the caller the *first* answer instead of "exists already".
   *
   * `"repeatable"` says that the call gives the same answer however often it is made, so nothing has to be read.
   */
  readonly readBack: (() => Promise<Result | undefined>) | "repeatable";
  /** Default 5: with the doubling delays about half a minute, the time in which a server restarts. */
  readonly attemptsMax?: number;
  /** Ends the waiting; the last failure is thrown. */
  readonly signal?: AbortSignal;
  /** For the log. */
  readonly onRetry?: (failure: RetryableFailure, attempt: number, error: unknown) => void;
}

/**
 * Makes a call on the ledger and repeats it after the failures in `retryableCodes` and `retryableMessages`. After
 * one in which the write may have happened, it reads back first, and doesn't repeat the call before that reading
 * has succeeded.
 *
 * @throws the first failure that isn't in the table, or the last one when the tries are used up.
 */
export async function withRetry<Result>(
  call: () => Promise<Result>,
  options: RetryOptions<Result>,
): Promise<Result> {
  const { readBack, attemptsMax = 5, signal, onRetry } = options;
  let uncertain = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (uncertain && readBack !== "repeatable") {
        const found = await readBack();
        if (found !== undefined) {
          return found;
        }
        uncertain = false;
      }
      return await call();
    } catch (error) {
      const failure = meaningOf(error);
      if (failure === undefined || attempt >= attemptsMax || signal?.aborted === true) {
        throw error;
      }
      uncertain ||= failure.mayHaveHappened;
      onRetry?.(failure, attempt, error);
      await waitUnlessAborted(backOffMs(failure, attempt), signal, error);
    }
  }
}

/** Between one and one and a half times the doubled delay, so that processes that failed together don't return together. */
function backOffMs(failure: RetryableFailure, attempt: number): number {
  return Math.min(failure.delayMs * 2 ** (attempt - 1), delayMsMax) * (1 + Math.random() / 2);
}

async function waitUnlessAborted(ms: number, signal: AbortSignal | undefined, error: unknown): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw error;
  }
}
