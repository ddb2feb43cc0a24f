import { appendFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { membersOf } from "../../platform/clean-up.js";
import type { ProcessRow } from "../../platform/process-table.js";
import {
  appendToJournal,
  readJournal,
  readRunRecord,
  type JournalEntry,
} from "../../platform/run-journal.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "killproof-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("entries come back in order, and a line cut short by a kill costs only itself", () => {
  const entries: JournalEntry[] = [
    { made: "folder", path: "/a" },
    { made: "group", name: "child", pid: 5, startedAt: "10" },
  ];
  for (const entry of entries) appendToJournal(folder, entry);
  appendFileSync(join(folder, "journal.ndjson"), '{"made":"fol');
  expect(readJournal(folder)).toEqual(entries);
});

test("only its owner may read it", () => {
  appendToJournal(folder, { made: "database", server: "localhost:5432", database: "killproof_x" });
  expect(statSync(join(folder, "journal.ndjson")).mode & 0o077).toBe(0);
});

test("a folder without a record or journal reads as none", () => {
  expect(readRunRecord(folder)).toBeUndefined();
  expect(readJournal(folder)).toEqual([]);
});

const row = (pid: number, group: number, startedAt = "10"): ProcessRow => {
  return { pid, parent: 1, group, session: group, startedAt, command: "" };
};
const group = (pid: number): JournalEntry => ({ made: "group", name: "child", pid, startedAt: "10" });

test("members of a journal's groups are found, also when the leader has ended", () => {
  const table = [row(5, 5), row(6, 5), row(8, 7), row(9, 9)];
  expect(table.filter(membersOf([group(5), group(7)], table)).map(({ pid }) => pid)).toEqual([5, 6, 8]);
});

test("a number that was given to another process is left alone", () => {
  const reused = [row(5, 5, "99"), row(6, 5)];
  expect(reused.filter(membersOf([group(5)], reused))).toEqual([]);
  const afterEnd = [row(6, 5)];
  expect(afterEnd.filter(membersOf([group(5), { made: "groupEnded", pid: 5 }], afterEnd))).toEqual([]);
});
