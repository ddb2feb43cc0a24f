/** The page and the code know the same verdicts and verbs, in the same words. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verdicts } from "../../crash-lab/judge/verdicts.js";
import { verbNames } from "../../crash-lab/verbs/verb.js";
import { packageRoot } from "../../platform/package-root.js";

const page = await readFile(join(packageRoot(), "docs", "crash-lab.md"), "utf8");

/** Cells of the rows of a table, without its head. */
function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test("every verdict is on the page as the code has it, and no other", () => {
  const table = /<!-- verdicts -->([^]*)<!-- \/verdicts -->/.exec(page)![1]!;
  expect(rowsOf(table)).toEqual(
    Object.entries(verdicts).map(([name, { passes, when, whatToDo }]) => [
      `\`${name}\``,
      passes ? "yes" : "no",
      when,
      whatToDo,
    ]),
  );
});

test("every verb is on the page, and no other", () => {
  const section = /## Verbs\n([^]*?)\n## /.exec(page)![1]!;
  expect(rowsOf(section).map(([name]) => name)).toEqual(verbNames.map((name) => `\`${name}\``));
});
