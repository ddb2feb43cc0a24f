/** Reading, as the judge, what the outside systems received, committed and answered. */
import { z } from "zod";
import type { InvoicePosting, MailMessage } from "../../activities/ports.js";
import type { System } from "../../services/world/faults/fault.js";
import { journalEntrySchema, type JournalEntry } from "../../services/world/journal/entry.js";
import { callWorld } from "./call.js";

export type { JournalEntry };

export interface JournalFilter {
  /** Only entries whose business key carries this token as a delimited part. */
  readonly run?: string;
  readonly system?: System;
  /** Only entries with a higher number. */
  readonly after?: number;
}

/** A committed posting. `manual` is one that the other company's clerk entered. */
export interface JournaledPosting {
  readonly entry: JournalEntry;
  readonly origin: "client" | "manual";
  readonly posting: InvoicePosting;
}

export interface JournaledMessage {
  readonly entry: JournalEntry;
  readonly message: MailMessage;
}

export interface WorldJournal {
  /** Everything that is there now, in the order of the commits. */
  read(filter?: JournalFilter): Promise<readonly JournalEntry[]>;
  /**
   * Waits until an entry is there that the predicate accepts, the first of them in the journal's order.
   *
   * @throws Error after `timeoutMs`, with what there was instead.
   */
  until(
    predicate: (entry: JournalEntry) => boolean,
    options: JournalFilter & { readonly timeoutMs: number },
  ): Promise<JournalEntry>;
  /** Every posting that was committed for this invoice, also those by hand. */
  postingsOf(invoiceKey: string): Promise<readonly JournaledPosting[]>;
  /** Every message that was committed under this reference. */
  messagesOf(reference: string): Promise<readonly JournaledMessage[]>;
}

export interface WorldJournalOptions {
  /** Of the control listener: `http://127.0.0.1:<port>`. */
  readonly baseUrl: string;
  readonly judgeToken: string;
}

const pageSchema = z.object({ entries: z.array(journalEntrySchema) });

/** As many as the world gives at once; a shorter page is the last one. */
const pageEntries = 1_000;
/** One question waits this long at most; longer waits are several questions. */
const waitMsMax = 10_000;

export function createWorldJournal({ baseUrl, judgeToken }: WorldJournalOptions): WorldJournal {
  const page = async (filter: JournalFilter, after: number, waitMs: number, signal?: AbortSignal) => {
    const query = new URLSearchParams({
      after: String(after),
      limit: String(pageEntries),
      waitMs: String(Math.round(waitMs)),
      ...(filter.run === undefined ? {} : { run: filter.run }),
      ...(filter.system === undefined ? {} : { system: filter.system }),
    });
    const answer = await callWorld({
      baseUrl,
      token: judgeToken,
      method: "GET",
      path: `/journal?${query}`,
      ...(signal === undefined ? {} : { signal }),
    });
    return pageSchema.parse(answer).entries;
  };

  const read = async (filter: JournalFilter = {}): Promise<JournalEntry[]> => {
    const entries: JournalEntry[] = [];
    for (;;) {
      const next = await page(filter, entries.at(-1)?.seq ?? filter.after ?? 0, 0);
      entries.push(...next);
      if (next.length < pageEntries) return entries;
    }
  };

  const until: WorldJournal["until"] = async (predicate, { timeoutMs, ...filter }) => {
    const deadline = performance.now() + timeoutMs;
    const seen: JournalEntry[] = [];
    let after = filter.after ?? 0;
    for (;;) {
      const left = Math.max(deadline - performance.now(), 0);
      const entries = await page(filter, after, Math.min(left, waitMsMax));
      const hit = entries.find(predicate);
      if (hit !== undefined) return hit;
      seen.push(...entries);
      after = entries.at(-1)?.seq ?? after;
      if (entries.length === 0 && performance.now() >= deadline) {
        const rows = seen.map(
          ({ seq, system, operation, kind, key }) => `${seq} ${system} ${operation} ${kind} ${key}`,
        );
        throw new Error(
          `no such entry in the journal within ${timeoutMs} ms; there was: ${rows.join(" | ") || "nothing"}`,
        );
      }
    }
  };

  const committed = async (system: System, key: string): Promise<JournalEntry[]> =>
    (await read({ system })).filter((entry) => entry.kind === "committed" && entry.key === key);

  return {
    read,
    until,
    postingsOf: async (invoiceKey) =>
      (await committed("accounting", invoiceKey)).map((entry) => ({
        entry,
        origin: entry.operation === "manual" ? "manual" : "client",
        posting: entry.content as InvoicePosting,
      })),
    messagesOf: async (reference) =>
      (await committed("mail", reference)).map((entry) => ({ entry, message: entry.content as MailMessage })),
  };
}
