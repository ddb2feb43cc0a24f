/**
 * Cases from practice, played: what code as one writes it at first leaves in the outside world, and what ours leaves,
 * by the same faults.
 */
import { writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { messageOf, openRun, UserFacingError } from "../../platform/index.js";
import type { PublicCase } from "../../scenarios/track-record/case.js";
import { publicCases } from "../../scenarios/track-record/index.js";
import { playCase, type Played } from "../../scenarios/track-record/play.js";
import { openStage } from "../../scenarios/track-record/stage.js";

export interface TrackRecordOptions {
  /** Ids of cases; all when empty. */
  readonly cases: readonly string[];
  /** Also write the outcomes here, as JSON. */
  readonly json?: string | undefined;
  readonly stdout: Writable;
}

/** 128 and SIGINT's number, as a shell says it. */
const interruptedExitCode = 130;

/**
 * @returns 0 when each side of each variant came out as it has to, 1 when one didn't
 * @throws UserFacingError for a case that isn't known, or a part that can't be had
 */
export async function trackRecord({ cases, json, stdout }: TrackRecordOptions): Promise<number> {
  const chosen = chosenCases(cases);
  const say = (line = ""): void => void stdout.write(`${line}\n`);
  const run = await openRun({ name: "track-record" });
  try {
    const stage = await openStage(run, say);
    const played: Played[] = [];
    for (const publicCase of chosen) {
      say();
      say(`${publicCase.id}  ${publicCase.title}`);
      played.push(
        ...(await playCase(stage, publicCase, (variant, sides) => {
          say(`  ${variant.id}: ${variant.tells}`);
          for (const each of sides) say(`    ${lineOf(each)}`);
        })),
      );
    }
    if (json !== undefined) await writeResult(json, played);
    return conclude(played, say);
  } catch (error) {
    // Interrupted: what broke off was broken off on purpose, and the signal decides how this process ends.
    if (!run.closing.aborted) throw error;
    return interruptedExitCode;
  } finally {
    await run.close();
  }
}

/** @throws UserFacingError */
function chosenCases(ids: readonly string[]): readonly PublicCase[] {
  if (ids.length === 0) return publicCases;
  return ids.map((id) => {
    const found = publicCases.find((each) => each.id.toLowerCase() === id.toLowerCase());
    if (found !== undefined) return found;
    const allowed = publicCases.map((each) => each.id).join(", ");
    throw new UserFacingError(`case is ${JSON.stringify(id)}; allowed: ${allowed}`);
  });
}

function lineOf({ side, expected, outcome }: Played): string {
  const { verdict, outside, inside } = outcome;
  const unexpected = verdict === expected ? "" : `  (had to be ${expected})`;
  return `${side.padEnd(5)}  ${verdict.padEnd(10)}  ${outside}; we say: ${inside}${unexpected}`;
}

function conclude(played: readonly Played[], say: (line?: string) => void): number {
  const strange = played.filter(({ expected, outcome }) => outcome.verdict !== expected);
  say();
  say(`${played.length - strange.length} as expected, ${strange.length} not`);
  return strange.length === 0 ? 0 : 1;
}

async function writeResult(file: string, played: readonly Played[]): Promise<void> {
  const result = { schema: "killproof.track-record/1", played };
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`).catch((error: unknown) => {
    throw new UserFacingError(`--json ${file}: ${messageOf(error)}`);
  });
}
