/** The two calls to a provider, each made once, each ending in an answer whatever happens. */
import type { PerformCall } from "./call.js";
import type { Runtime } from "./context.js";
import type { OperationSnapshot } from "./journal.js";
import type { JsonValue } from "./json.js";
import type { Answer, Found } from "./provider.js";
import { callBegins } from "./senders.js";
import { storableAnswer, storableFound } from "./storable.js";

/**
 * Sends under the try's key. A cancellation doesn't stop it, since the effect may be on its way already: the call
 * gets `graceMs` more to be answered. After that the answer is `unknown`; if it comes all the same while the process
 * lives, and it is a receipt, it is stored then.
 */
export async function sendOnce<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
): Promise<Answer<Receipt>> {
  const callSettled = callBegins(call.journal, call.key, operation.epoch, runtime.now);
  const grace = graceAfter(runtime);
  const answer = answerOrUnknown(() =>
    call.provider.send(call.request, { providerKey: operation.try.providerKey, signal: grace.signal }),
  ).finally(callSettled);
  const givenUp: Answer<Receipt> = {
    outcome: "unknown",
    cause: "cancelled, and not answered within the grace",
  };
  try {
    const first = await Promise.race([answer, grace.over.then(() => givenUp)]);
    if (first === givenUp) {
      storeWhenItComes(call, runtime, operation, answer);
    }
    return first;
  } finally {
    grace.end();
  }
}

/** Asks by our own reference. Also after a cancellation, within the grace: knowing is part of finishing. */
export async function askOnce<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
): Promise<Found<Receipt>> {
  const grace = graceAfter(runtime);
  const notAnswered: Found<Receipt> = {
    found: "unknown",
    cause: "cancelled, and not answered within the grace",
  };
  try {
    return storableFound(
      await Promise.race([
        call.provider.find!(call.request, { signal: grace.signal }),
        grace.over.then(() => notAnswered),
      ]),
    );
  } catch (error) {
    return storableFound({ found: "unknown", cause: describe(error) });
  } finally {
    grace.end();
  }
}

/** An adapter doesn't throw; if one does, nothing is known about the effect. */
async function answerOrUnknown<Receipt extends JsonValue>(
  send: () => Promise<Answer<Receipt>>,
): Promise<Answer<Receipt>> {
  try {
    return storableAnswer(await send());
  } catch (error) {
    return storableAnswer({ outcome: "unknown", cause: describe(error) });
  }
}

function storeWhenItComes<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  late: Promise<Answer<Receipt>>,
): void {
  const store = async () => {
    const answer = await late;
    if (answer.outcome === "done" && call.provider.sameEffect(call.request, answer.receipt)) {
      await call.journal.confirm({
        ...runtime.entrant,
        key: call.key,
        epoch: operation.epoch,
        tryNumber: operation.try.number,
        receipt: answer.receipt,
        outcome: "done",
      });
    }
  };
  store().catch((error: unknown) => {
    process.emitWarning(
      `${call.key}: a late receipt could not be stored (${describe(error)}); the operation stays open and is asked about.`,
      { code: "OPERATION_LATE_RECEIPT" },
    );
  });
}

interface Grace {
  /** Aborts when the grace is over. */
  readonly signal: AbortSignal;
  readonly over: Promise<void>;
  end(): void;
}

/** Begins when the caller cancels, and ends `graceMs` later. */
function graceAfter(runtime: Runtime): Grace {
  const isOver = new AbortController();
  let ended: AbortController | undefined; // of a grace that has begun; an abort nobody waits for costs too
  let finish!: () => void;
  const over = new Promise<void>((resolve) => (finish = resolve));
  const begin = () => {
    ended = new AbortController();
    runtime.sleep(runtime.graceMs, ended.signal).then(
      () => {
        isOver.abort(new Error("cancelled, and the grace is over"));
        finish();
      },
      () => undefined, // ended before the grace was over
    );
  };
  runtime.signal.addEventListener("abort", begin, { once: true });
  if (runtime.signal.aborted) {
    begin();
  }
  return {
    signal: isOver.signal,
    over,
    end() {
      runtime.signal.removeEventListener("abort", begin);
      ended?.abort();
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
