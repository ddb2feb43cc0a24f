import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { ServerDescription } from "./kinds.js";
import { messageOf } from "./errors.js";

const run = promisify(execFile);

/** A program that hasn't told its version after this long waits for something it won't get. */
const probeMsMax = 20_000;
/** Linux refuses to start a file that any process still holds open for writing, if only between fork and exec. */
const busyTriesMax = 20;
const busyWaitMs = 100;

export interface Probe {
  readonly version: string;
}

/** Runs the program once to see that it is the right one and works here. @returns a string: why it isn't. */
export async function probe(server: ServerDescription, path: string): Promise<Probe | string> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { stdout, stderr } = await run(path, [...server.probeArguments], { timeout: probeMsMax });
      return judge(server, `${stdout}\n${stderr}`);
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: string | number; stdout?: string; stderr?: string };
      if (code === "ETXTBSY" && tries < busyTriesMax) {
        await delay(busyWaitMs);
        continue;
      }
      if (code === "ENOENT") return "there is no such program";
      if (code === "EACCES") return "it may not be executed";
      if (code === "ENOEXEC") return "it is not a program for this system";
      const output = `${stdout ?? ""}\n${stderr ?? ""}`.trim();
      return `it failed: ${output === "" ? messageOf(error) : output.split("\n")[0]}`;
    }
  }
}

function judge(server: ServerDescription, output: string): Probe | string {
  const version = server.versionIn(output);
  if (version !== undefined) return { version };
  const firstLine = output.trim().split("\n")[0] ?? "";
  return `it is not the ${server.title}: it answers "${firstLine.slice(0, 120)}"`;
}
