/** `killproof submit`: hands a folder of invoices in, batch by batch, however often it is interrupted. */
import { setTimeout as delay } from "node:timers/promises";
import { submitApi, type SubmitApi } from "./api-client.js";
import {
  handIn,
  HandingInStopped,
  isAtRest,
  look,
  type PageStanding,
  type Patience,
  type Stop,
} from "./hand-in.js";
import { readInvoiceFolder } from "./invoice-files.js";
import { readOptions, type SubmitFlags } from "./options.js";
import { pagesOf, type Page } from "./pages.js";
import { exitCodeOf, jsonReport, textReport, type SubmitReport } from "./report.js";

export interface SubmitOptions extends SubmitFlags {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  /** Where one can watch it wait. */
  readonly stderr: { write(text: string): unknown };
  /** Default: the clock's. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** How often `--wait` looks at a batch that is under way; an invoice without review takes a few seconds. */
const lookEveryMs = 2_000;

/**
 * A kill at any moment loses nothing: the batches and their keys come from the files alone, so the same command asks
 * for the same batches again, and those that were admitted before are only found.
 *
 * @returns the exit code, see `exitCodeOf`
 * @throws UserFacingError for options or files that can't be used; nothing was handed in then
 */
export async function submit(options: SubmitOptions): Promise<0 | 1 | 2> {
  const settings = await readOptions(options, options.environment);
  const { files, leftOut } = await readInvoiceFolder(options.folder);
  const pages = pagesOf(files, settings.batchSize, settings.revision);
  const patience: Patience = {
    pause: options.pause ?? ((ms) => delay(ms)),
    giveUpAfterMs: settings.giveUpAfterMs,
    progress: (line) => void options.stderr.write(`${line}\n`),
  };
  const run = new Submission(submitApi(settings.url, settings.apiKey), pages, patience);
  const stop = await run.play(options.wait ?? false);
  const report: SubmitReport = {
    url: settings.url,
    folder: options.folder,
    pages: pages.map((page, index) => ({ ...page, state: run.standings[index]! })),
    leftOut,
    ...(stop === undefined ? {} : { stop }),
  };
  options.stdout.write(options.json === true ? jsonReport(report) : textReport(report));
  return exitCodeOf(report);
}

class Submission {
  readonly standings: PageStanding[];

  constructor(
    readonly api: SubmitApi,
    readonly pages: readonly Page[],
    readonly patience: Patience,
  ) {
    this.standings = pages.map(() => ({ standing: "not-handed-in" }));
  }

  /** @returns why the rest was left, if it was */
  async play(wait: boolean): Promise<Stop | undefined> {
    try {
      await this.#handIn();
      await this.#look(wait);
      return undefined;
    } catch (error) {
      if (error instanceof HandingInStopped) return error.stop;
      throw error;
    }
  }

  async #handIn(): Promise<void> {
    for (const [index, page] of this.pages.entries()) {
      const standing = await handIn(this.api, page, this.patience);
      this.standings[index] = standing;
      const what = standing.standing === "handed-in" ? `${standing.batchId} is ${standing.state}` : "refused";
      this.patience.progress(`Batch ${index + 1} of ${this.pages.length}: ${what}.`);
    }
  }

  /** Once, so that the report says how things stand; with `wait` until every batch has come to rest. */
  async #look(wait: boolean): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
      let open = 0;
      for (const [index, standing] of this.standings.entries()) {
        if (standing.standing !== "handed-in" || (isAtRest(standing) && standing.outcomes !== null)) continue;
        const seen = await look(this.api, standing, this.patience);
        if (seen.state !== standing.state) waitedMs = 0;
        this.standings[index] = seen;
        if (!isAtRest(seen)) open += 1;
      }
      if (!wait || open === 0) return;
      if (waitedMs >= this.patience.giveUpAfterMs) {
        const reason = `Gave up waiting: ${open} batches are still open, and none of them moved for ${waitedMs / 60_000} minutes.`;
        throw new HandingInStopped({ kind: "failed", reason });
      }
      await this.patience.pause(lookEveryMs);
    }
  }
}
