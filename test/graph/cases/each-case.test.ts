import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compareCase } from "../../../graph/cases/compare.js";
import type { PlayedCase } from "../../../graph/cases/engine.js";
import { coreEngine } from "../../../graph/cases/engines/core.js";
import type { Outcome } from "../../../graph/cases/form.js";
import { caseFilesAt, loadCaseFile } from "../../../graph/cases/load.js";
import { playCase } from "../../../graph/cases/play.js";

const files = await caseFilesAt(fileURLToPath(new URL(".", import.meta.url)));
const loaded = await Promise.all(files.map(loadCaseFile));

/** As JSON has it, since that is how expectations are kept. */
const plain = ({ steps, calls }: Pick<PlayedCase, "steps" | "calls">): Outcome =>
  JSON.parse(JSON.stringify({ steps, calls })) as Outcome;

/** One test a case, so that a fault in the interpreter is named by the cases it breaks, and by those only. */
describe("on our engine", () => {
  for (const { cases, functions } of loaded) {
    it.each(cases)("$id: $title", async (subject) => {
      const played = await playCase(coreEngine, subject, functions);
      const found = compareCase(subject, subject.expect!, { ...played, ...plain(played) }, { ours: true });
      expect(found.filter(({ stated }) => !stated)).toEqual([]);
    });
  }
});
