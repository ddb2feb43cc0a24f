import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf, UserFacingError } from "../errors.js";
import type { Run } from "../run.js";
import { runMarker } from "../run-journal.js";
import { canRun, canWriteIn, type Account } from "./account.js";
import type { PostgresBinaries } from "./binaries.js";

export const superuser = "killproof";

/**
 * A fresh folder that the account owns and can reach. Beside the run folder when it can; under a home folder that
 * only root may enter it can't, and the system's folder for temporary files takes its place.
 */
export async function makeDataFolder(run: Run, name: string, account: Account | undefined): Promise<string> {
  const tried: string[] = [];
  for (const parent of account === undefined ? [run.folder] : [run.folder, tmpdir(), "/tmp", "/var/tmp"]) {
    try {
      const folder = await mkdtemp(join(parent, `killproof-postgres-${name}-`));
      run.journal({ made: "postgresData", path: folder });
      if (account !== undefined) await chown(folder, account.uid, account.gid);
      if (await canWriteIn(account, folder)) return folder;
      tried.push(`${parent}: not reachable`);
      await rm(folder, { recursive: true, force: true });
    } catch (error) {
      tried.push(`${parent}: ${messageOf(error)}`);
    }
  }
  throw new UserFacingError(`no folder for the data of Postgres ${name}:\n  ${tried.join("\n  ")}`);
}

/** Makes an empty database cluster in `folder`/data whose one user is `superuser` with this password. */
export async function initialise(
  binaries: PostgresBinaries,
  account: Account | undefined,
  folder: string,
  password: string,
  runId: string,
): Promise<string> {
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  await mkdir(data, { mode: 0o700 });
  await chmod(data, 0o700);
  if (account !== undefined) {
    await chown(passwordFile, account.uid, account.gid);
    await chown(data, account.uid, account.gid);
  }
  // With the marker, it ends with a run that is killed while this takes its half second.
  const marker = { [runMarker]: runId };
  const result = await canRun(
    account,
    [
      binaries.initdb,
      `--pgdata=${data}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // What is on disk after a power failure doesn't matter for a folder that the next start makes anew.
      "--no-sync",
      "--no-instructions",
    ],
    marker,
  );
  await rm(passwordFile, { force: true });
  if (!result.ok)
    throw new UserFacingError(`Postgres could not make its data folder in ${data}: ${result.reason}`);
  return data;
}
