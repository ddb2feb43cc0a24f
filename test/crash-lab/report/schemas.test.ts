import { join } from "node:path";
import { format } from "prettier";
import { expect, test } from "vitest";
import { z } from "zod";
import { evidenceLineSchema } from "../../../crash-lab/judge/evidence-line.js";
import { crashReportSchema } from "../../../crash-lab/report/crash-report.js";
import { packageRoot } from "../../../platform/package-root.js";

/** Whoever reads these files in another language reads them by the committed schema. To write one anew: delete it. */
for (const [file, schema] of [
  ["docs/crash-evidence.schema.json", evidenceLineSchema],
  ["docs/crash-report.schema.json", crashReportSchema],
] as const) {
  test(`${file} is the schema that the code checks`, async () => {
    const path = join(packageRoot(), file);
    const made = await format(JSON.stringify(z.toJSONSchema(schema)), { parser: "json", printWidth: 110 });
    await expect(made).toMatchFileSnapshot(path);
  });
}
