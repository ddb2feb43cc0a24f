/**
 * What the observers saw, as lanes and marks. A page holds thousands of lines that differ only in their run's token, so
 * the token is replaced and each text is kept once.
 */
import type { EvidenceLine } from "../../judge/evidence-line.js";

/** Of one run: `[lane, milliseconds since the run's first line, kind, key, status]`, all but the time as text numbers. */
export type Mark = readonly [lane: number, ms: number, kind: number, key: number, status: number];

export interface Timeline {
  readonly token: string;
  /** Milliseconds since the run's first line; `null` in an undisturbed run. */
  readonly faultMs: number | null;
  readonly durationMs: number;
  readonly marks: readonly Mark[];
}

export interface Timelines {
  /** Every text once; marks name them by their place. */
  readonly texts: readonly string[];
  /** By `window verb`, in the order in which they stand in the evidence. */
  readonly cases: Readonly<Record<string, readonly Timeline[]>>;
  /** The first undisturbed run of each story. */
  readonly golden: Readonly<Record<string, Timeline>>;
}

/** The key under which a case's timelines are found. */
export const caseKey = (window: string, verb: string): string => `${window} ${verb}`;

export function timelinesOf(lines: readonly EvidenceLine[]): Timelines {
  const texts = new Texts();
  const cases: Record<string, Timeline[]> = {};
  const golden: Record<string, Timeline> = {};
  for (const run of byRun(lines)) {
    const fault = run.find(({ system, kind }) => system === "lab" && kind === "fault");
    const undisturbed = run.find(({ system, kind }) => system === "lab" && kind === "golden");
    if (fault) (cases[caseKey(fault.key, String(fault.status))] ??= []).push(timeline(run, fault, texts));
    else if (undisturbed) golden[undisturbed.key] ??= timeline(run, undefined, texts);
  }
  return { texts: texts.all, cases, golden };
}

function byRun(lines: readonly EvidenceLine[]): EvidenceLine[][] {
  const runs = new Map<string, EvidenceLine[]>();
  for (const line of lines) {
    const known = runs.get(line.run);
    if (known) known.push(line);
    else runs.set(line.run, [line]);
  }
  return [...runs.values()];
}

function timeline(run: readonly EvidenceLine[], fault: EvidenceLine | undefined, texts: Texts): Timeline {
  // The lab's word about the end has no time of its own.
  const seen = run.filter(
    ({ system, kind }) => system !== "lab" || (kind !== "golden" && kind !== "verdict"),
  );
  const timed = seen.map((line) => ({ line, at: Date.parse(line.at) })).filter(({ at }) => at > 0);
  const first = Math.min(...timed.map(({ at }) => at));
  const token = run[0]!.run;
  const text = (value: EvidenceLine["status"]): number =>
    texts.number(String(value ?? "").replaceAll(token, "<run>"));
  const marks = timed
    .sort((a, b) => a.at - b.at || a.line.seq - b.line.seq)
    .map(({ line, at }): Mark => [
      texts.number(line.system),
      at - first,
      text(line.kind),
      text(decoded(line)),
      text(line.status),
    ]);
  return {
    token,
    faultMs: fault ? Date.parse(fault.at) - first : null,
    durationMs: marks.at(-1)?.[1] ?? 0,
    marks,
  };
}

/** Where the lab's key is a window, its parts are URI-encoded. */
function decoded({ system, kind, key }: EvidenceLine): string {
  return system === "lab" && (kind === "fault" || kind === "victim") ? decodeURIComponent(key) : key;
}

class Texts {
  readonly all: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.all.length);
    return this.all.push(text) - 1;
  }
}
