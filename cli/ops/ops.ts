/** `killproof ops`: what waits for a person, and the person's answers. It needs the ledger and nothing else. */
import { openLedger, type Ledger } from "../../adapters/ledger/database.js";
import { checkSchema } from "../../adapters/ledger/migrate.js";
import { answerRecovery, type RecoveryAnswerResult } from "../../adapters/ledger/recovery/answer-recovery.js";
import { messageOf, UserFacingError } from "../../platform/index.js";
import { listEntries, questionNumber, readEntry } from "./entries.js";
import { answerFrom, type AnswerFlags } from "./options.js";
import { readOpsSettings, type OpsSettings } from "./settings.js";
import { detailText, listText } from "./text.js";

export interface OpsContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  /** For machines. */
  readonly json?: boolean;
}

/** 0 done, 1 refused: there is no such thing, or it doesn't take the answer. What can't be done at all is thrown. */
export type OpsExit = 0 | 1;

/** @throws UserFacingError for settings or a ledger that can't be used */
export function opsList({ environment, stdout, json }: OpsContext): Promise<OpsExit> {
  return withLedger(environment, async (ledger, { OPS_WAITING_MS }) => {
    const entries = await listEntries(ledger, OPS_WAITING_MS);
    stdout.write(json === true ? asJson(entries) : listText(entries));
    return 0;
  });
}

/** @throws UserFacingError for settings or a ledger that can't be used */
export function opsShow({
  environment,
  stdout,
  json,
  id,
}: OpsContext & { readonly id: string }): Promise<OpsExit> {
  return withLedger(environment, async (ledger) => {
    const entry = await readEntry(ledger, id);
    if (entry === undefined) {
      const why = unknownId(id);
      stdout.write(json === true ? asJson({ result: "unknown", why }) : `${why}\n`);
      return 1;
    }
    stdout.write(json === true ? asJson(entry) : detailText(entry));
    return 0;
  });
}

/**
 * Sent again under the same `--id` it says the same as the first time, whatever has happened since.
 *
 * @throws UserFacingError for flags, settings or a ledger that can't be used; nothing was answered then, or, when the
 *   ledger went away, perhaps: send it again under the same id
 */
export async function opsAnswer(
  options: OpsContext & AnswerFlags & { readonly question: string },
): Promise<OpsExit> {
  const { environment, stdout, json, question } = options;
  const answer = answerFrom(options);
  return withLedger(environment, async (ledger) => {
    const recoveryId = questionNumber(question);
    const result =
      recoveryId === undefined
        ? await nothingToAnswer(ledger, question)
        : await answerRecovery(ledger, { ...answer, recoveryId });
    stdout.write(json === true ? asJson(result) : `${sentenceOf(result, question)}\n`);
    return result.result === "answered" ? 0 : 1;
  });
}

async function nothingToAnswer(ledger: Ledger, id: string): Promise<RecoveryAnswerResult> {
  const entry = await readEntry(ledger, id);
  return entry === undefined ? { result: "unknown" } : { result: "not-possible", why: entry.advice };
}

function sentenceOf(result: RecoveryAnswerResult, id: string): string {
  switch (result.result) {
    case "answered":
      return `${result.subject}: ${result.consequence}.`;
    case "answered-before":
      return (
        `Refused: ${id} was answered before, by ${result.by}` +
        `${result.answerId === null ? "" : ` under the id ${result.answerId}`}. That answer stands.`
      );
    case "not-possible":
      return `Refused: ${result.why}`;
    case "unknown":
      return `Refused: ${unknownId(id)}`;
  }
}

function unknownId(id: string): string {
  return `Nothing waits under ${JSON.stringify(id)}; "killproof ops list" shows the ids.`;
}

async function withLedger(
  environment: OpsContext["environment"],
  work: (ledger: Ledger, settings: OpsSettings) => Promise<OpsExit>,
): Promise<OpsExit> {
  const settings = readOpsSettings(environment);
  const ledger = openLedger({ url: settings.LEDGER_URL, applicationName: "killproof-ops", poolSize: 1 });
  try {
    await checkSchema(ledger, settings.LEDGER_URL);
    return await work(ledger, settings);
  } catch (error) {
    if (error instanceof UserFacingError) throw error;
    throw new UserFacingError(`LEDGER_URL: the ledger could not be used: ${messageOf(error)}`, 2, {
      cause: error,
    });
  } finally {
    await ledger.destroy();
  }
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
