/**
 * Which sends this process made, and whether their calls have settled. Only this can prove that an earlier sender
 * has ended; it is kept in memory on purpose, since after a restart there is nothing to prove.
 */
import type { EarlierSender } from "./after-uncertain-send.js";
import type { OperationJournal, OperationSnapshot } from "./journal.js";

/**
 * How many operations are remembered for one journal. A forgotten one is treated as sent elsewhere, which can park
 * but never double; a thousand is many times what a worker has open at once, and small in memory.
 */
const rememberedMax = 1_000;

interface Call {
  readonly epoch: number;
  readonly openCalls: Set<symbol>;
  settledAt: number;
}

const callsByJournal = new WeakMap<OperationJournal, Map<string, Call>>();

/**
 * Notes that a call for this key begins under this epoch.
 *
 * @param now a clock that never goes back, in milliseconds.
 * @returns to be called when the call has settled, however it ended.
 */
export function callBegins(
  journal: OperationJournal,
  key: string,
  epoch: number,
  now: () => number,
): () => void {
  const calls = callsOf(journal);
  const earlier = calls.get(key);
  const openCalls = earlier?.openCalls ?? new Set<symbol>();
  const call: Call = { epoch, openCalls, settledAt: now() };
  const id = Symbol(key);
  openCalls.add(id);
  calls.delete(key);
  calls.set(key, call);
  forgetOldest(calls);
  return () => {
    openCalls.delete(id);
    const latest = calls.get(key);
    if (latest?.openCalls === openCalls) {
      latest.settledAt = now();
    }
  };
}

/** What this process knows about the operation's last send. */
export function earlierSender(
  journal: OperationJournal,
  operation: Pick<OperationSnapshot, "key" | "submitted">,
  now: () => number,
): EarlierSender {
  const call = callsOf(journal).get(operation.key);
  if (call === undefined || call.epoch !== operation.submitted?.epoch) {
    return { where: "elsewhere" };
  }
  return call.openCalls.size > 0
    ? { where: "here", call: "open" }
    : { where: "here", call: "settled", settledAgoMs: now() - call.settledAt };
}

function callsOf(journal: OperationJournal): Map<string, Call> {
  let calls = callsByJournal.get(journal);
  if (calls === undefined) {
    calls = new Map();
    callsByJournal.set(journal, calls);
  }
  return calls;
}

/** Open calls aren't forgotten: their number is bounded by what the worker runs at once. */
function forgetOldest(calls: Map<string, Call>): void {
  for (const [key, call] of calls) {
    if (calls.size <= rememberedMax) {
      return;
    }
    if (call.openCalls.size === 0) {
      calls.delete(key);
    }
  }
}
