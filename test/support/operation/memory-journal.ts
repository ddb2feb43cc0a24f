/**
 * The operations journal as an executable model: the same verbs over a map, each in one indivisible step. The shared
 * contract runs against it and against the ledger, so what the property tests show for this model holds for the
 * ledger's verbs too.
 */
import {
  reasonsAReceiptAnswers,
  redriveBesideAReceipt,
  type AcceptedOperation,
  type AnswerResult,
  type AnswerToParked,
  type Claim,
  type Entrant,
  type Intention,
  type NextTry,
  type OperationJournal,
  type OperationSnapshot,
  type Owner,
  type Parking,
  type Receipt,
  type Refusal,
  type TakeOver,
} from "../../../activities/operation/journal.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import { providerKeyOf } from "../../../activities/operation/keys.js";
import { statesBefore, type OperationState, type Verb } from "../../../activities/operation/states.js";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Row = Writable<Omit<OperationSnapshot, "now">> & { tries: OperationSnapshot["try"][] };

export interface MemoryEvent {
  readonly key: string;
  readonly verb: string;
  readonly state: OperationState;
  /** Of the one who wrote. */
  readonly epoch: number;
  /** Of the operation, after the change. */
  readonly currentEpoch: number;
  readonly detail: JsonValue;
}

export interface MemoryQuestion {
  readonly id: number;
  readonly key: string;
  readonly reason: string;
  readonly evidence: JsonValue;
  answered: {
    readonly by: string;
    readonly answerId: string;
    readonly text: string;
    readonly state: OperationState;
  } | null;
}

export class MemoryJournal implements OperationJournal {
  readonly rows = new Map<string, Row>();
  readonly events: MemoryEvent[] = [];
  readonly questions: MemoryQuestion[] = [];
  readonly generations = new Map<
    string,
    { generation: number; state: "provisioning" | "activated" | "fenced" }
  >();

  /** @param now the model's only clock, in milliseconds. */
  constructor(readonly now: () => number) {}

  async read(key: string): Promise<OperationSnapshot | null> {
    const row = this.rows.get(key);
    return row === undefined ? null : this.#snapshot(row);
  }

  async intend(intention: Intention): Promise<{ fresh: boolean; operation: OperationSnapshot }> {
    const there = this.rows.get(intention.key);
    if (there !== undefined) {
      return { fresh: false, operation: this.#snapshot(there) };
    }
    const row: Row = {
      key: intention.key,
      state: "intended",
      epoch: 1,
      try: {
        number: 1,
        providerKey: providerKeyOf(intention.key, 1),
        fingerprint: intention.fingerprint,
        repair: intention.repair,
        openedFor: "first",
        firstSubmittedAt: null,
      },
      submitted: null,
      uncertainSince: null,
      owner: intention.owner,
      receipt: null,
      outcome: null,
      accepted: null,
      refusal: null,
      parkedFor: null,
      tries: [],
    };
    row.tries.push(row.try);
    this.rows.set(intention.key, row);
    if (intention.andSubmit && this.#allows(intention.owner)) {
      this.#submitted(row);
    }
    this.#event(row, "intend", row.epoch);
    return { fresh: true, operation: this.#snapshot(row) };
  }

  async takeOver({ key, seen }: TakeOver) {
    const row = this.#held("takeOver", key, seen.epoch);
    if (row?.state !== seen.state || row.submitted?.epoch !== seen.submitted?.epoch) {
      return stale;
    }
    row.epoch += 1;
    this.#event(row, "takeOver", row.epoch);
    return { result: "taken", operation: this.#snapshot(row) } as const;
  }

  async submit(claim: Claim & { owner: Owner | null }) {
    if (!this.#allows(claim.owner)) {
      return { result: "fenced" } as const;
    }
    const row = this.#held("submit", claim.key, claim.epoch);
    if (row === undefined) {
      return stale;
    }
    row.owner = claim.owner;
    this.#submitted(row);
    this.#event(row, "submit", row.epoch);
    return { result: "submitting", operation: this.#snapshot(row) } as const;
  }

  async confirm(given: Receipt) {
    const row = this.rows.get(given.key);
    if (row === undefined) {
      throw new Error(`${given.key}: no such operation`);
    }
    if (row.receipt === null || !sameJson(row.receipt, given.receipt)) {
      const evidence = { stored: row.receipt, given: given.receipt };
      if (this.#fits(row, given)) {
        row.state = "confirmed";
        row.parkedFor = null;
      } else {
        row.parkedFor = row.receipt === null ? (row.parkedFor ?? "other-receipt") : "other-receipt";
        row.state = "parked";
      }
      row.outcome ??= given.outcome;
      row.receipt ??= given.receipt;
      this.#event(row, "confirm", given.epoch, given.receipt);
      if (row.state === "parked") {
        this.#ask(row, row.parkedFor ?? "", evidence);
      } else {
        this.#close(row, given.worker);
      }
    }
    return { result: row.state as "confirmed" | "parked", operation: this.#snapshot(row) };
  }

  async accept(accepted: Claim & { tryNumber: number } & AcceptedOperation) {
    const row = this.rows.get(accepted.key);
    if (row?.state === "accepted" && row.accepted?.operationUrl === accepted.operationUrl) {
      return { result: "accepted" } as const;
    }
    if (row === undefined || row.try.number !== accepted.tryNumber || !allowed("accept", row)) {
      return stale;
    }
    row.state = "accepted";
    row.accepted = { operationUrl: accepted.operationUrl, pollAfterMs: accepted.pollAfterMs };
    this.#event(row, "accept", accepted.epoch);
    return { result: "accepted" } as const;
  }

  async failAtProvider(failed: Entrant & { key: string; operationUrl: string } & Refusal) {
    const row = this.rows.get(failed.key);
    const isThisOne = row?.accepted?.operationUrl === failed.operationUrl;
    if (isThisOne && row.state === "failed-at-provider") {
      return { result: "failed-at-provider" } as const;
    }
    if (!isThisOne || !allowed("failAtProvider", row)) {
      return stale;
    }
    row.state = "failed-at-provider";
    row.refusal = { code: failed.code, detail: failed.detail };
    this.#event(row, "failAtProvider", row.epoch);
    return { result: "failed-at-provider" } as const;
  }

  async markUnknown(claim: Claim & { cause: string }) {
    return this.#guess("markUnknown", claim, "unknown", () => undefined);
  }

  async refuse(claim: Claim & Refusal) {
    return this.#guess("refuse", claim, "refused", (row) => {
      row.refusal = { code: claim.code, detail: claim.detail };
    });
  }

  async park(parking: Parking) {
    return this.#guess("park", parking, "parked", (row) => {
      row.parkedFor = parking.reason;
      this.#ask(row, parking.reason, parking.evidence);
    });
  }

  async nextTry(next: NextTry) {
    const there = this.rows.get(next.key);
    if (there?.state === "intended" && there.epoch === next.epoch && there.try.number === next.endedTry + 1) {
      return { result: "intended", operation: this.#snapshot(there) } as const;
    }
    const row = this.#held("nextTry", next.key, next.epoch);
    if (row === undefined || row.try.number !== next.endedTry || !mayCarry(row, next)) {
      return stale;
    }
    this.#openTry(row, {
      fingerprint: next.fingerprint,
      repair: next.repair,
      openedFor: next.openedFor,
    });
    this.#event(row, "nextTry", row.epoch);
    return { result: "intended", operation: this.#snapshot(row) } as const;
  }

  async answer(given: AnswerToParked): Promise<AnswerResult> {
    const question = this.questions.find((each) => each.id === given.recoveryId);
    const row = question === undefined ? undefined : this.rows.get(question.key);
    if (question === undefined || row === undefined) {
      return { result: "not-parked" };
    }
    if (question.answered !== null) {
      const { by, answerId, text, state } = question.answered;
      return answerId === given.answerId && text === JSON.stringify(given.answer)
        ? { result: "answered", key: row.key, state }
        : { result: "answered-before", by, answerId };
    }
    if (!allowed("answer", row)) {
      return { result: "not-parked" };
    }
    if (given.answer.answer === "redrive" && row.submitted === null && row.receipt !== null) {
      return { result: "not-possible", why: redriveBesideAReceipt };
    }
    row.epoch += 1;
    row.parkedFor = null;
    this.#apply(row, given.answer);
    question.answered = {
      by: given.by,
      answerId: given.answerId,
      text: JSON.stringify(given.answer),
      state: row.state,
    };
    this.#event(row, "answer", row.epoch);
    return { result: "answered", key: row.key, state: row.state };
  }

  #allows(owner: Owner | null): boolean {
    const current = owner === null ? null : this.generations.get(owner.id);
    return current === null || (current?.generation === owner?.generation && current?.state !== "fenced");
  }

  #submitted(row: Row): void {
    const at = this.now();
    row.state = "submitting";
    row.submitted = { at, epoch: row.epoch };
    row.uncertainSince ??= at;
    this.#replaceTry(row, { ...row.try, firstSubmittedAt: row.try.firstSubmittedAt ?? at });
  }

  #apply(row: Row, answer: AnswerToParked["answer"]): void {
    if (answer.answer === "adopt") {
      row.state = "confirmed";
      row.receipt = answer.receipt;
      row.outcome = "done";
      return;
    }
    row.receipt = null;
    row.outcome = null;
    row.accepted = null;
    if (answer.answer === "absent") {
      this.#openTry(row, { fingerprint: row.try.fingerprint, repair: row.try.repair, openedFor: "answer" });
    } else {
      row.state = row.submitted === null ? "intended" : "unknown";
      row.uncertainSince = row.submitted === null ? null : this.now();
    }
  }

  #openTry(row: Row, opened: Pick<OperationSnapshot["try"], "fingerprint" | "repair" | "openedFor">): void {
    const number = row.try.number + 1;
    row.try = { number, providerKey: providerKeyOf(row.key, number), firstSubmittedAt: null, ...opened };
    row.tries.push(row.try);
    row.state = "intended";
    row.submitted = null;
    row.uncertainSince = null;
    row.refusal = null;
  }

  #fits(row: Row, given: Receipt): boolean {
    if (row.receipt !== null) {
      return false;
    }
    if (
      row.state === "parked" &&
      (row.parkedFor === null || !reasonsAReceiptAnswers.includes(row.parkedFor))
    ) {
      return false;
    }
    const from = row.tries.find((each) => each.number === given.tryNumber);
    return (
      row.try.number === given.tryNumber ||
      (row.submitted === null &&
        from !== undefined &&
        sameJson({ ...from.fingerprint }, { ...row.try.fingerprint }))
    );
  }

  #guess<R extends "unknown" | "refused" | "parked">(
    verb: Verb,
    claim: Claim,
    to: R,
    change: (row: Row) => void,
  ): { readonly result: R } | typeof stale {
    const there = this.rows.get(claim.key);
    if (there?.state === to && there.epoch === claim.epoch) {
      return { result: to };
    }
    const row = this.#held(verb, claim.key, claim.epoch);
    if (row === undefined) {
      return stale;
    }
    row.state = to;
    change(row);
    this.#event(row, verb, claim.epoch);
    return { result: to };
  }

  #held(verb: Verb, key: string, epoch: number): Row | undefined {
    const row = this.rows.get(key);
    return row !== undefined && row.epoch === epoch && allowed(verb, row) ? row : undefined;
  }

  #replaceTry(row: Row, replacement: OperationSnapshot["try"]): void {
    row.try = replacement;
    row.tries[replacement.number - 1] = replacement;
  }

  #ask(row: Row, reason: string, evidence: JsonValue): void {
    if (!this.questions.some((each) => each.key === row.key && each.answered === null)) {
      this.questions.push({ id: this.questions.length + 1, key: row.key, reason, evidence, answered: null });
    }
  }

  #close(row: Row, by: string): void {
    for (const question of this.questions) {
      if (question.key === row.key && question.answered === null) {
        question.answered = { by, answerId: "receipt", text: "receipt", state: row.state };
      }
    }
  }

  #event(row: Row, verb: string, epoch: number, detail: JsonValue = null): void {
    this.events.push({ key: row.key, verb, state: row.state, epoch, currentEpoch: row.epoch, detail });
  }

  #snapshot(row: Row): OperationSnapshot {
    const { tries: _, ...rest } = row;
    return { ...rest, now: this.now() };
  }
}

const stale = { result: "stale" } as const;

function allowed(verb: Verb, row: Pick<Row, "state">): boolean {
  return statesBefore(verb).includes(row.state);
}

function mayCarry(row: Row, next: NextTry): boolean {
  switch (row.state) {
    case "refused":
      return true;
    case "intended":
      return row.try.openedFor === "answer";
    default:
      return sameJson({ ...row.try.fingerprint }, { ...next.fingerprint });
  }
}

function sameJson(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return value !== null && typeof value === "object"
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, each]) => [name, sorted(each as JsonValue)]),
      )
    : value;
}
