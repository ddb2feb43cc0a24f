/** A program that the person has: named by a variable, or on PATH. */
import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { probe } from "../program.js";
import type { Environment } from "../settings.js";
import type { Miss, Source } from "./source.js";

export const fromPath: Source = async ({ server, environment, notice }) => {
  const misses: Miss[] = [];
  const named = environment[server.pathVariable];
  if (named === undefined || named === "") {
    misses.push({ what: server.pathVariable, reason: "not set" });
  } else {
    const path = resolve(named);
    const result = await probe(server, path);
    if (typeof result !== "string") return { found: true, path, version: result.version };
    misses.push({ what: `${server.pathVariable}=${named}`, reason: result });
    // A person who named a program expects that one, and should know when another is used.
    notice(`${server.pathVariable}=${named} can't be used: ${result}.`);
  }
  const onPath = findOnPath(server.program, environment);
  if (onPath === undefined) {
    misses.push({ what: `"${server.program}" on PATH`, reason: "there is none" });
  } else {
    const result = await probe(server, onPath);
    if (typeof result !== "string") return { found: true, path: onPath, version: result.version };
    misses.push({ what: onPath, reason: result });
  }
  return { found: false, misses };
};

function findOnPath(program: string, environment: Environment): string | undefined {
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
