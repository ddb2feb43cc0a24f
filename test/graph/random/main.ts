/** `npm run graph:random -- [graphs] [--seed n]`: plays random graphs on both engines. Exit code 1 when they disagree. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { coreEngine } from "../../../graph/cases/engines/core.js";
import { langGraphEngine } from "../../../graph/cases/engines/langgraph.js";
import { loadFunctions } from "../../../graph/cases/load.js";
import { checkRandomGraphs } from "./check.js";
import { functionsFile, summaryOf, writeFoundCase } from "./found-case.js";

const usage = "Usage: npm run graph:random -- [graphs, default 2000] [--seed n, default: drawn]\n";

/** The nearest folder above that has a package: the build's folder has none. */
function projectRoot(from: string): string {
  const above = path.dirname(from);
  return existsSync(path.join(above, "package.json")) || above === from ? above : projectRoot(above);
}

function wholeNumber(text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  process.stderr.write(`${JSON.stringify(text)}: must be a whole number above 0\n${usage}`);
  process.exit(2);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: "string" } },
  });
  const root = projectRoot(fileURLToPath(import.meta.url));
  const result = await checkRandomGraphs({
    graphs: wholeNumber(positionals[0], 2000),
    seed: wholeNumber(values.seed, 1 + Math.floor(Math.random() * 2 ** 31)),
    engines: { core: coreEngine, reference: langGraphEngine },
    functions: await loadFunctions(path.join(root, functionsFile)),
  });
  process.stdout.write(`${summaryOf(result)}\n`);
  if (result.found === undefined) return 0;
  process.stdout.write(await writeFoundCase(root, result));
  return 1;
}

process.exitCode = await main();
