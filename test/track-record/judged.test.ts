import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { InvoicePosting } from "../../activities/ports.js";
import { publicCases } from "../../scenarios/track-record/index.js";
import { judgePostings } from "../../scenarios/track-record/two-approvers.js";

const posting = (amountMinor: number) => ({ amountMinor }) as InvoicePosting;
const ann = { by: "ann", amountMinor: 100 };
const bob = { by: "bob", amountMinor: 100 };

test.each([
  ["posted once, over what both approved", [posting(100)], [ann, bob], "once"],
  ["posted twice", [posting(100), posting(100)], [ann, bob], "duplicated"],
  ["not posted", [], [ann, bob], "lost"],
  ["one of them saw another amount", [posting(100)], [ann, { ...bob, amountMinor: 90 }], "diverged"],
  ["one person only", [posting(100)], [ann, ann], "diverged"],
  ["nobody", [posting(100)], [], "diverged"],
])("%s is judged", (_what, postings, approvals, verdict) => {
  expect(judgePostings(postings, approvals, "posted").verdict).toBe(verdict);
});

test("the page tells of every case, every variant and what comes of it", async () => {
  const page = await readFile("docs/track-record.md", "utf8");
  for (const { id, title, sources, variants } of publicCases) {
    expect(page).toContain(`## ${id} ${title}`);
    for (const number of sources.join(" ").match(/#\d+/g) ?? []) expect(page).toContain(number);
    const section = page.slice(page.indexOf(`## ${id} `)).split("\n## ")[0]!;
    const told = section
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
    expect(told.map((cells) => [cells[1], cells[3], cells[4]])).toEqual(
      variants.map(({ id: variant, expected }) => [variant, expected.naive, expected.right]),
    );
  }
});
