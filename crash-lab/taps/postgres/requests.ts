/**
 * Follows what a client sends: which statement a name stands for, which portal runs it, and which transaction it
 * is in. Puts messages together into batches and says what the server will answer to each.
 */
import { fromClient } from "./codes.js";
import { Batch, Transaction } from "./batch.js";
import { readBind, readExecute, readParse, readQuery, readTarget } from "./messages.js";
import type { Statement, StatementReader } from "./statements.js";

export type AnswerTo =
  "parse" | "bind" | "describe" | "execute" | "close" | "sync" | "query" | "function-call";

/** An answer that the server owes. */
export interface Expectation {
  readonly to: AnswerTo;
  readonly batch: Batch;
  /** Takes back what was assumed of a message that the server turned out not to carry out. */
  readonly undo?: () => void;
}

interface Prepared {
  readonly statements: readonly Statement[];
  readonly text: Buffer;
}

interface Portal {
  readonly statements: readonly Statement[];
  readonly inputs: readonly Buffer[];
  /** A statement that writes runs to its end at its first Execute; later ones only fetch. */
  ran: boolean;
}

/** A batch that is complete on the client's side. */
export interface Segment {
  readonly batch: Batch;
  readonly expectations: readonly Expectation[];
}

export class RequestReader {
  private readonly prepared = new Map<string, Prepared>();
  private readonly sqlPrepared = new Map<string, Statement>();
  private readonly portals = new Map<string, Portal>();
  private transaction = new Transaction();
  private batch = new Batch(this.transaction);
  private expectations: Expectation[] = [];
  /** The batch copies in by the extended protocol: the server ignores its Sync, and a later one commits. */
  private copiesIn = false;

  constructor(private readonly reader: StatementReader) {}

  /** Takes a whole message. @returns the batch, when this message ends one. */
  take(code: number, message: Buffer): Segment | undefined {
    this.batch.add(message);
    switch (code) {
      case fromClient.parse:
        return this.parse(message);
      case fromClient.bind:
        return this.bind(message);
      case fromClient.describe:
        return this.expect("describe");
      case fromClient.execute:
        return this.execute(message);
      case fromClient.close:
        return this.close(message);
      case fromClient.flush:
        return this.end();
      case fromClient.sync:
        this.expect("sync");
        this.endImplicitTransaction();
        return this.end();
      case fromClient.query:
        return this.query(message);
      case fromClient.functionCall:
        this.run(functionCall, [message]);
        this.expect("function-call");
        this.endImplicitTransaction();
        return this.end();
      default:
        return this.end();
    }
  }

  /** Ends the batch as it stands, for a client that starts to copy without a Flush. */
  endEarly(): Segment | undefined {
    return this.batch.isUnsent ? this.end() : undefined;
  }

  /** Nothing is under way and the server has told its transaction status: what was assumed gives way to it. */
  settle(insideTransaction: boolean): void {
    if (this.batch.isUnsent) return;
    if (insideTransaction) this.transaction.explicit = true;
    else if (this.transaction.explicit || this.transaction.wrote) {
      this.startTransaction();
      this.batch = new Batch(this.transaction);
    }
  }

  private parse(message: Buffer): undefined {
    const { statement, sql } = readParse(message);
    const before = this.prepared.get(statement);
    this.prepared.set(statement, { statements: this.reader.read(sql), text: Buffer.from(sql, "utf8") });
    this.expect("parse", () => {
      if (before === undefined) this.prepared.delete(statement);
      else this.prepared.set(statement, before);
    });
  }

  private bind(message: Buffer): undefined {
    const { portal, statement, parameters } = readBind(message);
    const prepared = this.prepared.get(statement);
    this.portals.set(portal, {
      statements: prepared?.statements ?? [],
      // Constants may stand in the text instead of among the parameters.
      inputs: [
        ...parameters.filter((one) => one !== null),
        ...(prepared === undefined ? [] : [prepared.text]),
      ],
      ran: false,
    });
    this.expect("bind");
  }

  private execute(message: Buffer): undefined {
    const portal = this.portals.get(readExecute(message));
    // A portal that no Bind made was declared by SQL as a cursor; fetching from it only reads.
    if (portal !== undefined && !portal.ran) {
      for (const statement of portal.statements) this.run(statement, portal.inputs);
      portal.ran = true;
      this.copiesIn ||= portal.statements.some((one) => one.copies === "in");
    }
    this.expect("execute");
  }

  private close(message: Buffer): undefined {
    const { of, name } = readTarget(message);
    if (of === "statement") this.prepared.delete(name);
    else this.portals.delete(name);
    this.expect("close");
  }

  private query(message: Buffer): Segment {
    const sql = readQuery(message);
    const input = Buffer.from(sql, "utf8");
    for (const statement of this.reader.read(sql)) this.run(statement, [input]);
    this.expect("query");
    this.endImplicitTransaction();
    return this.end();
  }

  /** Notes that a statement is carried out with this batch. */
  private run(asked: Statement, inputs: readonly Buffer[]): void {
    if (asked.prepares !== undefined) this.sqlPrepared.set(asked.prepares.name, asked.prepares.statement);
    const statement =
      asked.executes === undefined ? asked : (this.sqlPrepared.get(asked.executes) ?? unknownPrepared(asked));
    this.batch.statements.push(statement);
    for (const input of inputs) this.batch.takeInput(input);
    if (statement.kind === "begin") this.transaction.explicit = true;
    if (statement.writes) this.transaction.wrote = true;
    for (const token of this.batch.requestTokens) this.transaction.tokens.add(token);
    if (statement.kind === "commit") {
      if (this.transaction.wrote) this.batch.commitOf = this.transaction;
      this.startTransaction();
    }
    if (statement.kind === "rollback") this.startTransaction();
  }

  /** Without `begin`, a transaction ends where the client waits for ReadyForQuery. */
  private endImplicitTransaction(): void {
    if (this.transaction.explicit || this.copiesIn) return;
    // Writes of this very batch become effective with it; only earlier ones need a commit of their own.
    const wroteBefore = this.transaction.wrote && !this.batch.writes;
    if (wroteBefore) this.batch.commitOf = this.transaction;
    this.startTransaction();
  }

  private startTransaction(): void {
    this.transaction = new Transaction();
    this.portals.clear();
  }

  private expect(to: AnswerTo, undo?: () => void): undefined {
    this.expectations.push({ to, batch: this.batch, ...(undo === undefined ? {} : { undo }) });
    this.batch.outstanding += 1;
  }

  private end(): Segment {
    const segment = { batch: this.batch, expectations: this.expectations };
    this.batch = new Batch(this.transaction);
    this.expectations = [];
    this.copiesIn = false;
    return segment;
  }
}

/** The old call interface names a function only by number, so what it does isn't known: it counts as a write. */
const functionCall: Statement = {
  kind: "write",
  verb: "function call",
  table: "",
  fingerprint: "",
  writes: true,
  locks: false,
  copies: null,
};

/** Prepared before the tap could see it; better a window too many. */
function unknownPrepared(asked: Statement): Statement {
  return { ...asked, kind: "write", verb: "execute", table: asked.executes ?? "", writes: true };
}
