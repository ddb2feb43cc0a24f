import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Line of postmaster.pid that names the System V segment which guards the data folder: "key id". The segment
 * holds 56 bytes, but a machine has only some thousands of them, and a killed server leaves its own.
 */
const segmentLine = 6;

/** Removes what a killed server left in shared memory. Call it only when its processes have ended. */
export function releaseSharedMemory(postgresFolder: string): void {
  let lockFile: string;
  try {
    lockFile = readFileSync(join(postgresFolder, "data", "postmaster.pid"), "utf8");
  } catch {
    // A server that was stopped removes its lock file and its segment itself.
    return;
  }
  const segment = lockFile.split("\n")[segmentLine]?.trim().split(/ +/)[1];
  if (segment === undefined || !/^\d+$/.test(segment)) return;
  try {
    execFileSync("ipcrm", ["-m", segment], { stdio: "ignore" });
  } catch {
    // Gone already, or no `ipcrm` here: the segment then stays until the next boot, and does nothing.
  }
}
