import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { CaseEngine } from "../graph/cases/engine.js";
import { coreEngine } from "../graph/cases/engines/core.js";
import { langGraphEngine } from "../graph/cases/engines/langgraph.js";
import { CaseFileError } from "../graph/cases/functions.js";
import { runCases } from "../graph/cases/run.js";

export interface GraphCasesStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

const usage = `Usage: npm run graph:cases -- FILE --engine core|langgraph [options] [ids…]

Runs the conformance cases of FILE (.mjs or .json, or a folder of *.cases.* files; functions from fns.mjs
beside it) on one engine and prints a table of all differences from the expected results, each with its
reason.

  --engine NAME   core (our own) or langgraph (@langchain/langgraph, must be installed)
  --expect FILE   expected results; else results-<name>.json beside FILE, else the cases' own,
                  else both engines run and are compared
  --json FILE     writes { id: { steps, calls, diffs } }
  ids             run only these cases

Exit code: 0 no difference but stated ones, 1 others, 2 the cases could not be run.

  npm run graph:cases -- test/graph/cases --engine core
  npm run graph:cases -- my.cases.mjs --engine langgraph --json /tmp/out.json loop join
`;

const engines: Record<string, CaseEngine> = { core: coreEngine, langgraph: langGraphEngine };

/** Runs `graph:cases` and gives the exit code: 0 no difference but stated ones, 1 others, 2 the cases couldn't be run. */
export async function runGraphCases(
  argv: readonly string[],
  streams: GraphCasesStreams = process,
): Promise<number> {
  try {
    const wanted = parse(argv);
    if (wanted === "help") {
      streams.stdout.write(usage);
      return 0;
    }
    const { file, engine, expect, json, ids } = wanted;
    const result = await runCases({
      file,
      engine: engines[engine]!,
      reference: engine === "core" ? langGraphEngine : coreEngine,
      ours: engine === "core",
      expect,
      ids,
    });
    for (const warning of result.warnings) streams.stderr.write(`${warning}\n`);
    if (json !== undefined) await writeJson(json, result.cases);
    streams.stdout.write(result.table);
    return result.agrees ? 0 : 1;
  } catch (error) {
    const text = error instanceof CaseFileError ? error.message : ((error as Error).stack ?? String(error));
    streams.stderr.write(`${text}\n`);
    return 2;
  }
}

interface Wanted {
  file: string;
  engine: string;
  expect: string | undefined;
  json: string | undefined;
  ids: string[];
}

function parse(argv: readonly string[]): Wanted | "help" {
  const { values, positionals } = readArguments(argv);
  if (values.help === true) return "help";
  const [file, ...ids] = positionals;
  if (file === undefined) throw new CaseFileError(`no case file given\n\n${usage}`);
  const engine = values.engine ?? "core";
  if (!Object.hasOwn(engines, engine)) {
    throw new CaseFileError(
      `--engine ${JSON.stringify(engine)}: must be ${Object.keys(engines).join(" or ")}`,
    );
  }
  return { file, engine, expect: values.expect, json: values.json, ids };
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        engine: { type: "string" },
        expect: { type: "string" },
        json: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new CaseFileError(`${(error as Error).message}\n\n${usage}`);
  }
}

async function writeJson(file: string, content: unknown): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(content, null, 1)}\n`);
  } catch (error) {
    throw new CaseFileError(`--json ${file}: can't be written: ${(error as Error).message}`);
  }
}
