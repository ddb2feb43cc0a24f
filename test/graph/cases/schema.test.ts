import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { caseForm } from "../../../graph/cases/form.js";

const file = new URL("../../../docs/graph-cases.schema.json", import.meta.url);

it("documents the form of a case as it is checked", async () => {
  const documented = JSON.parse(await readFile(file, "utf8")) as unknown;
  expect(documented).toEqual(JSON.parse(JSON.stringify(z.toJSONSchema(caseForm, { io: "input" }))));
});
