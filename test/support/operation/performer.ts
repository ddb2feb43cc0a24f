/**
 * A process that asks for one operation many times at once, on a ledger whose statements fail now and then: before
 * they run, with a serialisation failure, and after they have been committed, with the answer lost.
 *
 * Prints `ready`, waits for a line on its input, and prints one line of JSON: the receipts and the faults that fired.
 */
import { setTimeout as delay } from "node:timers/promises";

import pg from "pg";

import { OutcomeUnknown } from "../../../activities/operation/errors.js";
import { perform } from "../../../activities/operation/perform.js";
import { openLedger } from "../../../adapters/ledger/database.js";
import { createOperationJournal } from "../../../adapters/ledger/operations/journal.js";
import { httpPayments } from "./http-payments.js";
import { payment, paymentProjection } from "./payment-call.js";

const {
  DATABASE_URL = "",
  PROVIDER_URL = "",
  OPERATION_KEY = "",
  CALLS = "1",
  FAULT_EVERY = "0",
} = process.env;
const faults = { serialisation: 0, answerLost: 0 };
breakStatements(Number(FAULT_EVERY));

const ledger = openLedger({ url: DATABASE_URL, applicationName: "performer", poolSize: 4 });
const journal = createOperationJournal(ledger);
const provider = httpPayments(PROVIDER_URL);

process.stdout.write("ready\n");
process.stdin.once("data", () => {
  void main();
});

async function main(): Promise<void> {
  const receipts = await Promise.all(Array.from({ length: Number(CALLS) }, () => untilItEnds()));
  await ledger.destroy();
  process.stdout.write(`${JSON.stringify({ receipts, faults })}\n`);
  process.stdin.destroy();
}

/** As an activity's retry policy would: again after an unknown outcome, and after the database gave up. */
async function untilItEnds(): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const performed = await perform(
        { journal, provider, key: OPERATION_KEY, request: payment("order-1"), projection: paymentProjection },
        { attempt, worker: `performer-${process.pid}`, signal: new AbortController().signal },
      );
      return performed.outcome === "accepted" ? null : performed.receipt;
    } catch (error) {
      const isTransient = error instanceof OutcomeUnknown || isInjected(error);
      if (!isTransient || attempt === 50) {
        throw error;
      }
      await delay(50);
    }
  }
}

function isInjected(error: unknown): boolean {
  return error instanceof Error && "injected" in error;
}

/** Each n-th statement fails, by turns before and after it ran. */
function breakStatements(every: number): void {
  if (every === 0) {
    return;
  }
  const prototype = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
  const query = prototype.query;
  let statements = 0;
  prototype.query = function (this: unknown, ...given: unknown[]) {
    statements += 1;
    if (statements % every !== 0) {
      return query.apply(this, given);
    }
    if ((statements / every) % 2 === 0) {
      faults.serialisation += 1;
      return Promise.reject(injected("could not serialize access", "40001"));
    }
    return (query.apply(this, given) as Promise<unknown>).then(() => {
      faults.answerLost += 1;
      throw injected("Connection terminated unexpectedly");
    });
  };
}

function injected(message: string, code?: string): Error {
  return Object.assign(new Error(message), { injected: true, ...(code === undefined ? {} : { code }) });
}
