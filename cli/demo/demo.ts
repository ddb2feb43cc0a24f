/**
 * The demo: one real e-invoice, once with a worker as one writes it when nothing is expected to go wrong, once with
 * ours; the same kill at the same place; and then what accounting's own journal says.
 */
import { once } from "node:events";
import { statSync } from "node:fs";
import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import { messageOf, openRun, UserFacingError, type Run } from "../../platform/index.js";
import { startInvoiceEnvironment } from "../../scenarios/invoice-approval/environment.js";
import { demoInvoice, killAfterPosting, type KillObserved, type Variant } from "./kill-after-posting.js";
import { explain, moneyOf, summaryLine } from "./words.js";

export interface DemoOptions {
  /** Also write the result here, as JSON. */
  readonly json?: string | undefined;
  /** Start Temporal's web interface too, and wait for Ctrl-C at the end. */
  readonly ui: boolean;
  readonly stdout: Writable;
}

/** How often each variant posts the invoice when its worker is killed there: what the demo has to show. */
const postingsExpected = { naive: 2, safe: 1 } as const satisfies Record<Variant, number>;

/** 128 and SIGINT's number, as a shell says it. */
const interruptedExitCode = 130;

/** @returns 0 when both variants ended as they must, 1 when one did not */
export async function demo({ json, ui, stdout }: DemoOptions): Promise<number> {
  if (json !== undefined) await requireWritable(json);
  const say = (line = ""): void => void stdout.write(`${line}\n`);
  say("Killproof demo: one invoice, two workers, the same kill.");
  say(`This is process ${process.pid}; Ctrl-C stops everything it starts.`);
  say();
  const run = await openRun({ name: "demo" });
  try {
    const observed = await play(run, ui, say);
    if (json !== undefined) await writeResult(json, observed);
    const code = conclude(observed, say);
    if (ui) await untilInterrupted(run, say);
    return code;
  } catch (error) {
    // Interrupted: whatever broke off was broken off on purpose, and the signal decides how this process ends.
    if (!run.closing.aborted) throw error;
    return interruptedExitCode;
  } finally {
    await run.close();
  }
}

/** Whoever asked for the web interface wants to look at what was left in it. */
async function untilInterrupted(run: Run, say: (line?: string) => void): Promise<void> {
  say();
  say("Temporal's web interface stays until you press Ctrl-C.");
  if (!run.closing.aborted) await once(run.closing, "abort");
}

async function play(run: Run, ui: boolean, say: (line?: string) => void): Promise<KillObserved[]> {
  const environment = await startInvoiceEnvironment(run, { ui, progress: (line) => say(`  ${line}`) });
  if (environment.temporal.uiUrl) say(`  Temporal's web interface: ${environment.temporal.uiUrl}`);
  say();
  say(`The invoice is ${demoInvoice.file}, a UBL e-invoice.`);
  const observed: KillObserved[] = [];
  for (const variant of ["naive", "safe"] as const) {
    say();
    say(
      variant === "naive"
        ? "The naive worker: each attempt is a new request to accounting, and nothing is written down before it."
        : "The safe worker: a journal row before the request, and one key for the posting however often it is sent.",
    );
    const seen = await killAfterPosting({ run, environment, variant, tell: (line) => say(`  ${line}`) });
    observed.push(seen);
    say(`  The invoice's workflow ended ${(seen.recoverMs / 1000).toFixed(1)} s after the kill.`);
    say(`  Accounting's own journal: ${seen.postings.length} × ${moneyOf(seen)}.`);
    for (const line of explain(seen)) say(`  ${line}`);
  }
  return observed;
}

function conclude(observed: readonly KillObserved[], say: (line?: string) => void): number {
  say();
  for (const seen of observed) say(summaryLine(seen));
  const strange = observed.filter(({ variant, postings }) => postings.length !== postingsExpected[variant]);
  for (const { variant, postings } of strange)
    say(
      `The ${variant} worker should have left ${postingsExpected[variant]} posting(s), and left ${postings.length}.`,
    );
  return strange.length === 0 ? 0 : 1;
}

/** Asked before anything starts: a demo of a minute must not end with a file that can't be written. */
async function requireWritable(file: string): Promise<void> {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UserFacingError(`--json ${file}: it is a folder; allowed is a file`);
  await access(dirname(resolve(file)), constants.W_OK).catch((error: unknown) => {
    throw new UserFacingError(`--json ${file}: its folder can't be written to: ${messageOf(error)}`);
  });
}

async function writeResult(file: string, observed: readonly KillObserved[]): Promise<void> {
  const result = { schema: "killproof.demo/1", variants: observed };
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`).catch((error: unknown) => {
    throw new UserFacingError(`--json ${file}: ${messageOf(error)}`);
  });
}
