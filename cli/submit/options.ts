/** What the command was given, checked before any file or address is touched. */
import { readFile } from "node:fs/promises";
import { messageOf, UserFacingError } from "../../platform/index.js";
import { batchSizeMax } from "../../workflows/invoice-approval/limits.js";

/** As they come from the command line and the environment. */
export interface SubmitFlags {
  readonly url?: string;
  readonly keyFile?: string;
  readonly batchSize?: string;
  readonly revision?: string;
  readonly giveUpAfter?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

export interface SubmitSettings {
  /** Ends with a slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly batchSize: number;
  readonly revision: number;
  readonly giveUpAfterMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const urlVariable = "KILLPROOF_API_URL";
export const keyVariable = "KILLPROOF_API_KEY";
/** Where `docker compose up` puts the API. */
export const urlDefault = "http://127.0.0.1:8080";
/** A review takes days, so a person decides how long to wait; an hour is as long as one leaves a terminal alone. */
export const giveUpAfterMinutesDefault = 60;
/** The largest that the ledger's columns hold. */
const revisionMax = 2_147_483_647;
/** A week: whoever needs longer repeats the command. */
const giveUpAfterMinutesMax = 10_080;

/** @throws UserFacingError naming what is wrong and what is allowed; never the key */
export async function readOptions(flags: SubmitFlags, environment: Environment): Promise<SubmitSettings> {
  return {
    url: baseUrl(flags.url, environment[urlVariable]),
    batchSize: wholeNumber("--batch-size", flags.batchSize, batchSizeMax, batchSizeMax),
    revision: wholeNumber("--revision", flags.revision, 1, revisionMax),
    giveUpAfterMs:
      wholeNumber("--give-up-after", flags.giveUpAfter, giveUpAfterMinutesDefault, giveUpAfterMinutesMax) *
      60_000,
    apiKey: await readKey(flags.keyFile, environment[keyVariable]),
  };
}

function baseUrl(flag: string | undefined, variable: string | undefined): string {
  const [name, given] =
    flag === undefined && variable !== undefined ? [urlVariable, variable] : ["--url", flag];
  const text = given ?? urlDefault;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UserFacingError(
      `${name} is ${JSON.stringify(text)}; allowed: http://HOST:PORT or https://HOST`,
      2,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new UserFacingError(
      `${name} holds a name or password; the key goes into ${keyVariable} or --key-file`,
      2,
    );
  }
  url.search = "";
  url.hash = "";
  return url.href.endsWith("/") ? url.href : `${url.href}/`;
}

function wholeNumber(flag: string, given: string | undefined, preset: number, max: number): number {
  if (given === undefined) return preset;
  const value = /^\d{1,10}$/.test(given) ? Number(given) : 0;
  if (value >= 1 && value <= max) return value;
  throw new UserFacingError(
    `${flag} is ${JSON.stringify(given)}; allowed: a whole number from 1 to ${max}`,
    2,
  );
}

/** Not from the command line: what stands there can be read by every user of the machine and stays in histories. */
async function readKey(file: string | undefined, variable: string | undefined): Promise<string> {
  const [where, given] =
    file === undefined ? [keyVariable, variable] : [`The file ${file}`, await readKeyFile(file)];
  if (given === undefined) {
    throw new UserFacingError(
      `There is no key for the API: set ${keyVariable}, or name a file by --key-file`,
      2,
    );
  }
  const key = given.trim();
  // What a header can carry; anything else would only fail later and less clearly.
  if (!/^[!-~]+$/.test(key)) {
    throw new UserFacingError(
      `${where} holds no key: it must be one line of printable characters without spaces`,
      2,
    );
  }
  return key;
}

async function readKeyFile(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new UserFacingError(`--key-file ${file} can't be read: ${messageOf(error)}`, 2);
  });
}
