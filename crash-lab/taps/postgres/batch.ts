/**
 * A batch: what a client sends before it waits for an answer, ended by Query, Sync or Flush. It is the unit that
 * a tap holds, because nothing of it has an effect before its end was forwarded.
 */
import { createHash } from "node:crypto";
import { runTokensIn } from "../tokens.js";
import type { PostgresDetails } from "../event.js";
import type { Gate } from "./answers.js";
import type { Statement } from "./statements.js";

/** The statements between two points at which the server has nothing uncommitted. */
export class Transaction {
  /** Opened by `begin`; otherwise it ends with its batch. */
  explicit = false;
  wrote = false;
  /** Some write in it touched a row, or can't say that it touched none. */
  touchedRows = false;
  readonly tokens = new Set<string>();
}

/** The business id that a token stands in: what reaches from one quote, blank, bracket or comma to the next. */
function idAround(token: string, content: Buffer): string {
  const text = content.toString("latin1");
  return new RegExp(`[^\\s'"(),{}\\[\\]]*${token}[^\\s'"(),{}\\[\\]]*`).exec(text)?.[0] ?? token;
}

export class Batch {
  readonly statements: Statement[] = [];
  readonly requestTokens = new Set<string>();
  readonly answerTokens = new Set<string>();
  readonly tags: string[] = [];
  rows: number | null = null;
  sqlState: string | null = null;
  /** A business key found in its parameters. */
  key: string | null = null;
  /** Its commit makes earlier writes of this transaction effective. */
  commitOf: Transaction | null = null;
  /** Messages of it that the server has not answered. */
  outstanding = 0;
  /** Where its answer waits, once some of it has come. */
  gate: Gate | null = null;
  exchange = 0;
  dropAnswer = false;
  /** It is forwarded although its process is gone. */
  outlives = false;
  /** The connection broke before the server had answered. */
  abandoned = false;
  private readonly messages: Buffer[] = [];

  constructor(readonly transaction: Transaction) {}

  /** Takes a message that will be forwarded with this batch. */
  add(message: Buffer): void {
    this.messages.push(message);
  }

  bytes(): Buffer {
    return this.messages.length === 1 ? this.messages[0]! : Buffer.concat(this.messages);
  }

  /** Takes what a statement was given: parameters, or the text that holds its constants. */
  takeInput(content: Buffer): void {
    const tokens = runTokensIn(content);
    for (const token of tokens) this.requestTokens.add(token);
    if (tokens[0] !== undefined) this.key ??= idAround(tokens[0], content);
  }

  /** It holds messages that were not forwarded. */
  get isUnsent(): boolean {
    return this.messages.length > 0;
  }

  get writes(): boolean {
    return this.statements.some((one) => one.writes);
  }

  get isBoundary(): boolean {
    return this.writes || this.commitOf !== null;
  }

  /** Whether the answer has to be looked through for tokens. */
  get claims(): boolean {
    return this.writes || this.statements.some((one) => one.locks);
  }

  /** The runs it belongs to, as far as is known now: its own, else those that its answer names, else the transaction's. */
  runTokens(): readonly string[] {
    if (this.requestTokens.size > 0) return [...this.requestTokens];
    if (this.answerTokens.size > 0) return [...this.answerTokens];
    return [...(this.commitOf ?? this.transaction).tokens];
  }

  /** `insert operations 50fde20626009aba`, several joined by ` + `. */
  label(): string {
    const parts = this.statements
      .filter((one) => one.writes)
      .map((one) => [one.verb, one.table, one.fingerprint].filter((part) => part !== "").join(" "));
    if (this.commitOf !== null) parts.push("commit");
    return parts.join(" + ");
  }

  digest(): string {
    return createHash("sha256").update(this.bytes()).digest("hex");
  }

  status(): string {
    if (this.sqlState !== null) return this.sqlState;
    // Where a transaction ends without the word, the server has no tag for it.
    return this.tags.length === 0 && this.commitOf !== null ? "COMMIT" : this.tags.join("; ");
  }

  describeStatements(): PostgresDetails["statements"] {
    return this.statements.map(({ verb, table, fingerprint, writes }) => ({
      verb,
      table,
      fingerprint,
      writes,
    }));
  }

  /** Every write in it failed or found nothing to change. */
  get isEmpty(): boolean {
    if (this.sqlState !== null) return true;
    if (this.commitOf !== null && this.commitOf.touchedRows) return false;
    return !this.writes || this.rows === 0;
  }

  get isDefinition(): boolean {
    return this.statements.some((one) => one.kind === "definition");
  }
}
