/**
 * What goes back to the client, in the server's order. Most of it passes straight through; the answer of a batch
 * that is a boundary event waits behind a gate, and whatever the server says after it queues up behind that gate.
 */
import type { Socket } from "node:net";

/**
 * A withheld answer is kept up to this size. Beyond it, its rows pass and only what tells that the statement is
 * done is withheld: a client that acted on rows before that would be acting on a statement that may still fail.
 */
export const withheldBytesMax = 16 * 1024 * 1024;

export interface Gate {
  /** @param bulk rows and the like, which pass when the answer grows too large to keep. */
  add(bytes: Buffer, bulk: boolean): void;
  /** Lets the answer go to the client. */
  open(): void;
}

interface Entry {
  readonly buffers: Buffer[];
  open: boolean;
}

export class AnswerStream {
  private readonly entries: Entry[] = [];
  private queuedBytes = 0;
  private ending = false;

  constructor(
    private readonly client: Socket,
    private readonly upstream: Socket,
  ) {
    client.on("drain", () => upstream.resume());
  }

  /** In order, behind everything that still waits. */
  pass(bytes: Buffer): void {
    const tail = this.entries.at(-1);
    if (tail === undefined) return this.write(bytes);
    if (tail.open) this.keep(tail, bytes);
    else {
      const entry = { buffers: [], open: true };
      this.entries.push(entry);
      this.keep(entry, bytes);
    }
    // The answers behind a held one can be many; the server is slowed down instead of keeping them all.
    if (this.queuedBytes > withheldBytesMax) this.upstream.pause();
  }

  /** At once, past everything that waits. Only for whole messages that belong to no answer. */
  interject(bytes: Buffer): void {
    this.write(bytes);
  }

  gate(): Gate {
    const entry: Entry = { buffers: [], open: false };
    this.entries.push(entry);
    let size = 0;
    return {
      add: (bytes, bulk) => {
        size += bytes.length;
        if (size > withheldBytesMax && bulk && this.entries[0] === entry) {
          this.release(entry);
          this.write(bytes);
        } else {
          this.keep(entry, bytes);
        }
      },
      open: () => {
        entry.open = true;
        this.flush();
      },
    };
  }

  /** Ends the connection to the client, once everything that waits has been given to it. */
  endWhenEmpty(): void {
    this.ending = true;
    this.flush();
  }

  private keep(entry: Entry, bytes: Buffer): void {
    entry.buffers.push(bytes);
    this.queuedBytes += bytes.length;
  }

  private release(entry: Entry): void {
    for (const bytes of entry.buffers.splice(0)) {
      this.queuedBytes -= bytes.length;
      this.write(bytes);
    }
  }

  private flush(): void {
    while (this.entries[0]?.open === true) this.release(this.entries.shift()!);
    if (this.ending && this.entries.length === 0) this.client.end();
    if (this.queuedBytes <= withheldBytesMax && !this.client.writableNeedDrain) this.upstream.resume();
  }

  private write(bytes: Buffer): void {
    if (this.client.destroyed) return;
    if (!this.client.write(bytes)) this.upstream.pause();
  }
}
