import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import extractDepcruiseConfig from "dependency-cruiser/config-utl/extract-depcruise-config";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const project = resolve(import.meta.dirname, "../..");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "killproof-layers-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Lays out the files in an empty folder and returns the names of the rules they break. */
async function brokenRules(files: Record<string, string>): Promise<string[]> {
  const root = await mkdtemp(join(folder, "case-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const config = await extractDepcruiseConfig(join(project, ".dependency-cruiser.cjs"));
  const result = await cruise(
    [...new Set(Object.keys(files).map((path) => path.split("/")[0]!))],
    { ...config.options, ruleSet: { forbidden: config.forbidden ?? [] }, validate: true, baseDir: root },
    { extensions: [".ts", ".js"] },
    { tsConfig: extractTSConfig(join(project, "tsconfig.json")) },
  );
  if (typeof result.output === "string") throw new Error(`a text came back: ${result.output}`);
  return [...new Set(result.output.summary.violations.map((violation) => violation.rule.name))];
}

const empty = "export type T = 1;\nexport const value = 1;\n";

/** Each forbidden import, as a value and as a type: a check that misses type-only imports would be green for nothing. */
const forbidden: { rule: string; from: string; to: string }[] = [
  { rule: "workflows-are-deterministic", from: "workflows/x/workflow.ts", to: "adapters/ledger/x.ts" },
  { rule: "workflows-are-deterministic", from: "workflows/x/workflow.ts", to: "graph/host/x.ts" },
  { rule: "activities-know-ports-only", from: "activities/x/x.ts", to: "adapters/ledger/x.ts" },
  { rule: "activities-know-ports-only", from: "activities/x/x.ts", to: "platform/x.ts" },
  { rule: "graph-core-is-pure", from: "graph/core/x.ts", to: "graph/host/x.ts" },
  { rule: "adapters-know-no-service", from: "adapters/x/x.ts", to: "services/worker/x.ts" },
  { rule: "production-knows-nothing-of-the-lab", from: "services/worker/x.ts", to: "crash-lab/x.ts" },
  { rule: "production-knows-nothing-of-the-lab", from: "activities/x/x.ts", to: "scenarios/x/x.ts" },
  { rule: "lab-knows-no-scenario", from: "crash-lab/x.ts", to: "scenarios/x/x.ts" },
  { rule: "world-is-outside", from: "services/world/x.ts", to: "adapters/ledger/x.ts" },
  { rule: "nothing-imports-tests", from: "services/worker/x.ts", to: "test/x.ts" },
];

describe("a forbidden import is seen", () => {
  for (const { rule, from, to } of forbidden) {
    const target = `${"../".repeat(from.split("/").length - 1)}${to.replace(/\.ts$/, ".js")}`;
    for (const [kind, statement] of [
      ["as a value", `import { value } from "${target}";\nexport const x = value;\n`],
      ["as a type only", `import type { T } from "${target}";\nexport type X = T;\n`],
      ["as a re-export", `export * from "${target}";\n`],
      ["at run time", `export const x = () => import("${target}");\n`],
    ] as const) {
      test(`${rule}: ${from} → ${to} ${kind}`, async () => {
        expect(await brokenRules({ [from]: statement, [to]: empty })).toContain(rule);
      });
    }
  }

  test("a Node module in workflow code", async () => {
    const files = {
      "workflows/x.ts": `import { readFileSync } from "node:fs";\nexport const x = readFileSync;\n`,
    };
    expect(await brokenRules(files)).toContain("workflows-are-deterministic");
  });

  test("an activity as a value in workflow code", async () => {
    const value = `import { value } from "../activities/x.js";\nexport const x = value;\n`;
    expect(await brokenRules({ "workflows/x.ts": value, "activities/x.ts": empty })).toContain(
      "workflows-know-activities-as-types",
    );
  });

  test("two files that need each other", async () => {
    const files = {
      "adapters/a.ts": `import { b } from "./b.js";\nexport const a = () => b;\n`,
      "adapters/b.ts": `import { a } from "./a.js";\nexport const b = () => a;\n`,
    };
    expect(await brokenRules(files)).toContain("no-cycles");
  });

  test("an import that leads nowhere", async () => {
    expect(await brokenRules({ "adapters/a.ts": `export * from "./gone.js";\n` })).toContain(
      "no-unresolvable",
    );
  });
});

describe("an allowed import is left alone", () => {
  test("activity types in workflow code", async () => {
    const files = {
      "workflows/x.ts": `import type { T } from "../activities/x.js";\nexport type X = T;\n`,
      "activities/x.ts": empty,
    };
    expect(await brokenRules(files)).toEqual([]);
  });

  test("the failure catalogue everywhere", async () => {
    const files = Object.fromEntries(
      ["workflows", "activities", "adapters", "scenarios"].map((layer) => [
        `${layer}/x.ts`,
        `import { value } from "../failures/catalogue.js";\nexport const x = value;\n`,
      ]),
    );
    expect(await brokenRules({ ...files, "failures/catalogue.ts": empty })).toEqual([]);
  });
});

const words = /\b(crash-?lab|crashLab|mutants?|naive|tap|KILLPROOF_LAB)\b/i;

test("the words of the lab are looked for without comments and strings being taken for code", async () => {
  const { identifiersAndImports } = await import("../support/identifiers.js");
  expect(identifiersAndImports("// a crash-lab comment\nconst a = 1;")).not.toContain("crash");
  expect(
    identifiersAndImports(`const tapPort = 1; import "./crash-lab/x.js";`).filter((w) => words.test(w)),
  ).toEqual(["./crash-lab/x.js"]);
});

test("production folders hold no word of the lab", async () => {
  const { identifiersAndImports, sourceFiles } = await import("../support/identifiers.js");
  const folders = [
    "workflows",
    "activities",
    "adapters",
    "graph",
    "services/worker",
    "services/api",
    "services/relay",
  ];
  const found: string[] = [];
  for (const { path, text } of await sourceFiles(project, folders)) {
    for (const word of identifiersAndImports(text))
      if (words.test(splitWords(word))) found.push(`${path}: ${word}`);
  }
  expect(found).toEqual([]);
});

/** `openTapPort` → `open Tap Port`, so that a word inside an identifier is seen, and `metadata` holds no `tap`. */
function splitWords(identifier: string): string {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replaceAll("KILLPROOF LAB", "KILLPROOF_LAB");
}
