import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { values } from "./example.js";

/** Where a line breaks follows from the length of the import's path, which differs. */
const joined = (text: string) => text.replace(/,?\s+\}/gu, " }").replace(/\s+/gu, " ");
const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

describe("the example in the documentation", () => {
  it("runs as it stands there, to the result that stands there", async () => {
    const example = (await read("./example.ts"))
      .replace("../../../graph/index.js", "killproof/graph")
      .replace("export const { values }", "const { values }");
    expect(joined(await read("../../../docs/graph.md"))).toContain(joined(example).trim());
    expect(example).toContain(`// { log: ${JSON.stringify(values!.log).replaceAll(",", ", ")} }`);
  });
});
