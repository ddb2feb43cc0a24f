/**
 * Follows what the server sends: which message answers which request. An error makes the server skip to the next
 * Sync, and copying in makes it ignore Syncs until the copy has ended; both are followed here, because a tap that
 * loses count gives answers to the wrong batch.
 */
import { fromServer } from "./codes.js";
import type { Batch } from "./batch.js";
import type { AnswerTo, Expectation } from "./requests.js";
import { readCommandTag, readSqlState, rowsOfTag } from "./messages.js";
import { ProtocolError } from "./frames.js";

/** Where a copy from the client stands; a marker among the expectations. */
type Owed = Expectation | { readonly to: "copy-end" };

const endsWith: Readonly<Partial<Record<number, readonly AnswerTo[]>>> = {
  [fromServer.parseComplete]: ["parse"],
  [fromServer.bindComplete]: ["bind"],
  [fromServer.closeComplete]: ["close"],
  [fromServer.noData]: ["describe"],
  [fromServer.rowDescription]: ["describe"],
  [fromServer.portalSuspended]: ["execute"],
  [fromServer.emptyQueryResponse]: ["execute"],
  [fromServer.commandComplete]: ["execute"],
  [fromServer.readyForQuery]: ["sync", "query", "function-call"],
};

export class ReplyReader {
  private readonly owed: Owed[] = [];
  private skipping = false;
  private copyingIn = false;

  /** @param completed called when the server has answered all of a batch, or won't any more. */
  constructor(private readonly completed: (batch: Batch) => void) {}

  get isIdle(): boolean {
    return this.head() === undefined;
  }

  /** The requests were forwarded. */
  expect(expectations: readonly Expectation[]): void {
    for (const one of expectations) {
      if (one.to === "sync" && this.copyingIn && !this.hasCopyEnd()) this.settle(one);
      else if (this.skipping && one.to !== "sync") this.drop(one);
      else {
        if (one.to === "sync") this.skipping = false;
        this.owed.push(one);
      }
    }
  }

  /** CopyDone or CopyFail was forwarded. */
  copyEnded(): void {
    this.owed.push({ to: "copy-end" });
  }

  /** The batch that a message belongs to, before `take` moves on; undefined outside of any answer. */
  batchOf(): Batch | undefined {
    return this.head()?.batch;
  }

  /** Takes a whole message, or the first piece of a bulk one. */
  take(code: number, message: Buffer): void {
    const head = this.head();
    if (head === undefined) return;
    if (code === fromServer.commandComplete) recordTag(head.batch, readCommandTag(message));
    if (code === fromServer.portalSuspended) head.batch.tags.push("suspended");
    if (code === fromServer.copyInResponse) this.beginCopyIn(head);
    if (code === fromServer.errorResponse) return this.fail(head, readSqlState(message));
    if (code === fromServer.readyForQuery && !endsWith[code]!.includes(head.to)) {
      throw new ProtocolError(
        `the server is ready for the next query while the answer to "${head.to}" is due`,
      );
    }
    if (endsWith[code]?.includes(head.to) === true) this.finish(head);
  }

  /** The connection is gone: nothing that is owed will come. */
  abandon(): void {
    for (const one of this.owed.splice(0)) {
      if (!isExpectation(one)) continue;
      one.batch.abandoned = true;
      this.settle(one);
    }
  }

  private head(): Expectation | undefined {
    while (this.owed[0]?.to === "copy-end") {
      // The end of a copy owes no answer of its own; it only marks the place.
      this.owed.shift();
    }
    const head = this.owed[0];
    return head !== undefined && isExpectation(head) ? head : undefined;
  }

  private finish(head: Expectation): void {
    this.owed.shift();
    if (head.to === "execute" || head.to === "query") this.copyingIn = false;
    this.settle(head);
  }

  /** The server ignores Flush and Sync while it copies in, so those that came before the copy's end get no answer. */
  private beginCopyIn(head: Expectation): void {
    this.copyingIn = true;
    if (head.to !== "execute") return;
    const end = this.owed.findIndex((one) => one.to === "copy-end");
    const ignored = this.owed
      .slice(1, end === -1 ? this.owed.length : end)
      .filter(isExpectation)
      .filter(({ to }) => to === "sync");
    for (const one of ignored) {
      this.owed.splice(this.owed.indexOf(one), 1);
      this.settle(one);
    }
  }

  private fail(head: Expectation, sqlState: string): void {
    head.batch.sqlState = sqlState;
    this.copyingIn = false;
    // These end with ReadyForQuery whatever happens.
    if (head.to === "sync" || head.to === "query" || head.to === "function-call") return;
    const sync = this.owed.findIndex((one) => one.to === "sync");
    const skipped = this.owed.splice(0, sync === -1 ? this.owed.length : sync).filter(isExpectation);
    this.skipping = sync === -1;
    // Backwards, so that a name that was given twice ends as it was before both.
    for (const one of skipped.reverse()) this.drop(one);
  }

  private drop(one: Expectation): void {
    one.undo?.();
    this.settle(one);
  }

  private settle(one: Expectation): void {
    one.batch.outstanding -= 1;
    if (one.batch.outstanding === 0) this.completed(one.batch);
  }

  private hasCopyEnd(): boolean {
    return this.owed.some((one) => one.to === "copy-end");
  }
}

function isExpectation(one: Owed): one is Expectation {
  return one.to !== "copy-end";
}

function recordTag(batch: Batch, tag: string): void {
  batch.tags.push(tag);
  const rows = rowsOfTag(tag);
  if (rows !== null) batch.rows = (batch.rows ?? 0) + rows;
}
