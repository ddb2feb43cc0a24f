/** The journal as the crash lab's judge takes it: the effects of one run, comparable with those of another run. */
import type { Effect } from "../../crash-lab/judge/evidence.js";
import { carriesToken } from "../../services/world/faults/fault.js";
import { digestOf, type Content } from "../../services/world/journal/entry.js";
import type { JournalEntry, WorldJournal } from "./journal.js";

/** What stands for the token of whichever run it was. */
const anyRun = "<run>";
/** What stands for a moment: a mail names its deadline, and no two runs have the same one. */
const anyTime = "<time>";
/** As our systems write moments: ISO 8601 in UTC. */
const instants = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Everything that the outside systems committed for the run, in their order: postings (also by hand) and messages.
 * Documents are put by the story itself, so they are no effects.
 *
 * A posting's `payloadDigest` isn't compared: the payload holds the run's ids, and no token can be replaced inside
 * a digest. That it is the approved payload's is for an invariant to say.
 */
export async function effectsOf(
  journal: Pick<WorldJournal, "read">,
  run: string,
): Promise<readonly Effect[]> {
  return (await journal.read({ run }))
    .filter(({ kind, operation }) => kind === "committed" && operation !== "put")
    .map((entry) => toEffect(entry, run));
}

function toEffect(entry: JournalEntry, run: string): Effect {
  const { system, operation, key, seq } = entry;
  return {
    system,
    subject: `${operation}:${withoutToken(key, run)}`,
    contentDigest: comparableDigest(entry, run),
    sequence: seq,
  };
}

/** The digest of the entry's content with the run's token and moments replaced: the same for the same effect of another run. */
export function comparableDigest({ content }: Pick<JournalEntry, "content">, run: string): string {
  return digestOf(comparable(content, run));
}

function comparable(content: Content, run: string): Content {
  if (typeof content === "string") return withoutToken(content, run).replaceAll(instants, anyTime);
  if (Array.isArray(content)) return content.map((item) => comparable(item, run));
  if (typeof content !== "object" || content === null) return content;
  const fields = Object.entries(content).filter(([name]) => name !== "payloadDigest");
  return Object.fromEntries(fields.map(([name, value]) => [name, comparable(value, run)]));
}

/** Replaces the token where it stands between delimiters, as the world itself understands it. */
function withoutToken(text: string, run: string): string {
  if (!carriesToken(text, run)) return text;
  return text
    .split(/([^A-Za-z0-9]+)/)
    .map((part) => (part === run ? anyRun : part))
    .join("");
}

/**
 * Resolves when nothing of the run is on its way inside the outside systems any more: every request that was read
 * has been answered or dropped, late commits included.
 *
 * @throws Error when that takes longer than `timeoutMs`.
 */
export async function untilSettled(
  journal: Pick<WorldJournal, "read" | "until">,
  run: string,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const open = new Map<string, string>();
  let after = 0;
  for (;;) {
    for (const { seq, kind, requestId, system, operation, key } of await journal.read({ run, after })) {
      after = seq;
      if (kind === "received" && operation !== "put") open.set(requestId, `${system} ${operation} ${key}`);
      if (kind === "answered" || kind === "dropped") open.delete(requestId);
    }
    if (open.size === 0) return;
    const left = deadline - performance.now();
    if (left <= 0) throw new Error(`still under way after ${timeoutMs} ms: ${[...open.values()].join(", ")}`);
    // Woken by any row of the run; at the deadline the loop looks once more and says what is missing.
    await journal
      .until(() => true, { run, after, timeoutMs: left })
      .catch((error: unknown) => {
        if (performance.now() < deadline) throw error;
      });
  }
}
