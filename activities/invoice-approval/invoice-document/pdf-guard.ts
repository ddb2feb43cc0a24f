/**
 * Watches the PDF process from a thread of it, which goes on while the reader is busy, and ends the process when it
 * takes too much. Memory is measured as the operating system sees it: the engine's own limit leaves out what streams
 * are unpacked into.
 */
import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { guardReasons } from "./pdf-content.js";

const { startedBy } = workerData as { readonly startedBy: number };

/** A thread has no standard error of its own; a line written to the process's is there before the process ends. */
const standardError = 2;

const megabyte = 1024 * 1024;
/** An ordinary invoice takes 70 MB, most of it the program; one of fifty pages with its fonts may take thrice that. */
const residentBytesMax = 512 * megabyte;
/** Computing time, not time on the clock, so that a busy machine refuses nothing. An ordinary invoice takes 0.3 s. */
const computingMicrosecondsMax = 10_000_000;
/** Unpacking fills some 200 MB in a second, so that at most a few megabytes more are taken before the next look. */
const lookEveryMs = 10;

function end(reason: string): void {
  writeSync(standardError, `${reason}\n`);
  process.kill(process.pid, "SIGKILL");
}

function look(): void {
  const { user, system } = process.cpuUsage();
  if (process.memoryUsage.rss() > residentBytesMax) end(guardReasons.memory);
  else if (user + system > computingMicrosecondsMax) end(guardReasons.computing);
  // Whoever asked is gone, and nobody would end this process.
  else if (process.ppid !== startedBy) end(guardReasons.abandoned);
}

setInterval(look, lookEveryMs);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage("watching");
