/** As whom Postgres runs: it refuses to run as root, so root hands it to an account that has no rights. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { codeOf, UserFacingError } from "../errors.js";

const run = promisify(execFile);

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts that systems come with, those first that own the least. None is ever added. */
const candidates = ["nobody", "postgres", "daemon", "www-data"] as const;

/** @returns undefined when this process isn't root: Postgres then runs as this user. @throws UserFacingError */
export async function unprivilegedAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of candidates) {
    const account = await lookUp(name);
    if (account !== undefined && account.uid !== 0) return account;
  }
  throw new UserFacingError(
    `Postgres can't run as root, and none of the accounts ${candidates.join(", ")} exists here. ` +
      "Start this as an ordinary user, or set DATABASE_URL to a Postgres server.",
  );
}

async function lookUp(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/**
 * Runs a command as the account (or as us), with next to nothing in its environment.
 *
 * @returns its output, or why it can't be run or failed.
 */
export async function canRun(
  account: Account | undefined,
  command: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly ok: true; readonly output: string } | { readonly ok: false; readonly reason: string }> {
  const [program, ...args] = command;
  try {
    const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
    const { stdout } = await run(program, args, {
      cwd: "/",
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin", ...environment },
      ...identity,
    });
    return { ok: true, output: stdout.trim() };
  } catch (error) {
    const stderr =
      typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr) : "";
    return { ok: false, reason: stderr.trim().split("\n")[0] || (codeOf(error) ?? String(error)) };
  }
}

/** Can the account enter the folder and write there? Tried, not computed: rights come from more than modes. */
export async function canWriteIn(account: Account | undefined, folder: string): Promise<boolean> {
  const script = 'cd "$1" && : > .probe-$$ && rm .probe-$$';
  return (await canRun(account, ["/bin/sh", "-c", script, "sh", folder])).ok;
}
