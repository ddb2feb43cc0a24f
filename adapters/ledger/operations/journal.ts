import type { OperationJournal } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { accept } from "./accept.js";
import { answerParked } from "./answer-parked.js";
import { confirm } from "./confirm.js";
import { failAtProvider } from "./fail-at-provider.js";
import { intend } from "./intend.js";
import { markUnknown } from "./mark-unknown.js";
import { nextTry } from "./next-try.js";
import { park } from "./park.js";
import { read } from "./read.js";
import { refuse } from "./refuse.js";
import { submit } from "./submit.js";
import { takeOver } from "./take-over.js";

/**
 * The operations journal in Postgres: one verb, one statement, one file.
 *
 * Make one for a process and keep it: what `perform` knows about its own calls belongs to the journal object.
 */
export function createOperationJournal(ledger: Ledger): OperationJournal {
  return {
    read: (key) => read(ledger, key),
    intend: (intention) => intend(ledger, intention),
    takeOver: (entrant) => takeOver(ledger, entrant),
    submit: (claim) => submit(ledger, claim),
    confirm: (receipt) => confirm(ledger, receipt),
    accept: (accepted) => accept(ledger, accepted),
    failAtProvider: (failed) => failAtProvider(ledger, failed),
    markUnknown: (claim) => markUnknown(ledger, claim),
    refuse: (claim) => refuse(ledger, claim),
    park: (parking) => park(ledger, parking),
    nextTry: (next) => nextTry(ledger, next),
    answer: (answer) => answerParked(ledger, answer),
  };
}
