// Killing npm alone reaches neither the shell that npm started nor what the shell started: they would go on with nobody
// above them. Here a script notices. Runs of the platform have a guardian that does the same (platform/ancestors.ts).
import { readFileSync } from "node:fs";

/** A quarter of a second later than at once is soon enough for a person, and a look costs one or two small reads. */
const lookMs = 250;

/** Of Linux's /proc: who started a process; elsewhere, or when it is gone, undefined. */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

/**
 * Calls `act` once, when the process that started this script has ended. Where a shell stands between (npm's `sh -c`
 * that didn't make way for its command), the one that started the shell counts, too.
 */
export function whenLauncherEnds(act) {
  const parent = process.ppid;
  const shell = /^(da|ba|z|k)?sh$/.test(nameOf(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const shellLaunched = shell === undefined || parentOf(parent) === shell;
    if (process.ppid === parent && shellLaunched) return;
    clearInterval(timer);
    act();
  }, lookMs);
  timer.unref();
}
