import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { RandomCheckResult } from "./check.js";

/** Where the functions of drawn graphs are, from the project's root. */
export const functionsFile = "test/graph/cases/fns.mjs";

/**
 * Writes a found disagreement as a case file with its functions beside it, and says how to see it again.
 *
 * @param root the project's root
 */
export async function writeFoundCase(root: string, result: RandomCheckResult): Promise<string> {
  const { seed, graphs, found } = result;
  if (found?.disagreement === undefined) throw new Error("nothing was found");
  const folder = path.join(root, "reports", "random-graphs", `seed-${seed}`);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "found.cases.json");
  await writeFile(file, `${JSON.stringify([found.subject], null, 2)}\n`);
  await copyFile(path.join(root, functionsFile), path.join(folder, "fns.mjs"));
  const { step, path: place, core, reference } = found.disagreement;
  const op = found.subject.script[step]?.op ?? "compile";
  return [
    `The engines disagree on graph ${graphs} of seed ${seed} (path ${found.shrinkPath ?? "none"}), made as small as possible:`,
    `  call ${step + 1} (${op}) at ${place}`,
    `  core      ${JSON.stringify(core)}`,
    `  langgraph ${JSON.stringify(reference)}`,
    `See it again: npm run graph:cases -- ${path.relative(root, file)} --engine core`,
    "",
  ].join("\n");
}

/** A line that says what was played. */
export function summaryOf({ seed, graphs, tasks, milliseconds, features }: RandomCheckResult): string {
  const counted = Object.entries(features)
    .sort(([, a], [, b]) => b - a)
    .map(([feature, count]) => `${feature} ${count}`)
    .join(", ");
  return (
    `${graphs} graphs of seed ${seed}: ${tasks} tasks, ${(milliseconds / graphs).toFixed(1)} ms a graph ` +
    `on both engines (${counted})`
  );
}
