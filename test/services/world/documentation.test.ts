/** The page says what there is: every kind, code, problem type, route, variable and journal field, and no other. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultKinds, refusalCodes } from "../../../services/world/faults/fault.js";
import {
  journalEntrySchema,
  journalKinds,
  journalOperations,
} from "../../../services/world/journal/entry.js";

const page = readFileSync("docs/world.md", "utf8");
const sources = readdirSync("services/world", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join("services/world", name), "utf8"))
  .join("\n");

/** The first cells of the table whose head begins like this. */
function firstCells(head: string): string[] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.split("|")[1]?.trim() === head);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) => line.split("|")[1]!.trim());
}
const names = (cells: readonly string[]) =>
  cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
const found = (pattern: RegExp) =>
  [...new Set([...sources.matchAll(pattern)].map(([, name]) => name!))].toSorted();

test("fault kinds", () => {
  expect(names(firstCells("kind")).toSorted()).toEqual(faultKinds.toSorted());
});

test("settings", () => {
  const used = found(/\b(WORLD_[A-Z_]+)\b/g).filter((name) => !name.endsWith("_"));
  expect(names(firstCells("variable")).toSorted()).toEqual(used);
});

test("journal fields, kinds and operations", () => {
  expect(names(firstCells("field")).toSorted()).toEqual(Object.keys(journalEntrySchema.shape).toSorted());
  for (const word of [...journalKinds, ...journalOperations]) expect(page).toContain(`\`${word}\``);
});

test("refusal codes", () => {
  for (const code of Object.values(refusalCodes).flat()) expect(page).toContain(`\`${code}\``);
});

test("problem types", () => {
  const documented = names(firstCells("type"));
  for (const type of documented) {
    const title = type.replaceAll("-", " ");
    expect(sources.toLowerCase(), type).toMatch(new RegExp(`"${type}"|"${title}"`));
  }
  const literal = found(/problemType\([^,]+, "([a-z-]+)"\)/g);
  // These two say only what their status says.
  expect(literal.filter((type) => !documented.includes(type))).toEqual(["internal", "no-such-route"]);
});

test("routes", () => {
  const routes = [...sources.matchAll(/\b(?:app|scope)\.(get|post|put|delete)\(\s*"([^"]+)"/g)].map(
    ([, method, path]) => `${method!.toUpperCase()} ${path!.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  expect(routes.length).toBeGreaterThanOrEqual(9);
  for (const route of routes) expect(page, route).toContain(route);
});
