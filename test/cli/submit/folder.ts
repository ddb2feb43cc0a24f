import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with these files, gone after the test. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "killproof-submit-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

/** So many invoices, named `<prefix>-01.xml` and on. */
export function numbered(prefix: string, count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `${prefix}-${String(index + 1).padStart(2, "0")}`;
      return [`${name}.xml`, `<invoice>${name}</invoice>`];
    }),
  );
}

/** What a command wrote. */
export class Output {
  text = "";
  write(text: string): void {
    this.text += text;
  }
}
