import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentBytesMax } from "../../../activities/invoice-approval/invoice-document/read-invoice.js";
import { readInvoiceFolder } from "../../../cli/submit/invoice-files.js";
import { UserFacingError } from "../../../platform/index.js";
import { folderWith } from "./folder.js";

test("invoices are found by their extension, in byte order, and called by their names", async () => {
  const folder = await folderWith({
    "b.xml": "b",
    "A.PDF": "a",
    "a.b.xml": "c",
    "notes.txt": "n",
    ".hidden": "h",
  });
  await mkdir(join(folder, "older.xml"));
  const { files, leftOut } = await readInvoiceFolder(folder);
  expect(files).toEqual(
    [
      ["A.PDF", "A", "a"],
      ["a.b.xml", "a.b", "c"],
      ["b.xml", "b", "b"],
    ].map(([name, invoiceKey, content]) => ({
      name,
      invoiceKey,
      sha256: createHash("sha256").update(content!).digest("hex"),
    })),
  );
  expect(leftOut).toEqual([".hidden", "notes.txt", "older.xml/"]);
});

async function refusal(folder: string): Promise<string> {
  const error = await readInvoiceFolder(folder).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UserFacingError);
  expect((error as UserFacingError).exitCode).toBe(2);
  return (error as UserFacingError).message;
}

test("a folder that isn't there, a file in its place, and a folder without invoices are named", async () => {
  const folder = await folderWith({ "notes.txt": "n" });
  expect(await refusal(join(folder, "none"))).toBe(
    `The folder ${join(folder, "none")} can't be read: it isn't there.`,
  );
  expect(await refusal(join(folder, "notes.txt"))).toContain("can't be read: it is no folder");
  expect(await refusal(folder)).toContain("holds no invoice: no file that ends in .xml or .pdf");
});

test("every file that can't be handed in is named at once, with what is allowed", async () => {
  const folder = await folderWith({
    "empty.xml": "",
    "good.xml": "g",
    "two words.xml": "w",
    "same.pdf": "p",
    "same.xml": "x",
    "large.pdf": "l",
    [`${"k".repeat(101)}.xml`]: "k",
  });
  await truncate(join(folder, "large.pdf"), documentBytesMax + 1);
  await symlink(join(folder, "nothing"), join(folder, "dangling.xml"));
  const lines = (await refusal(folder)).split("\n");
  expect(lines[0]).toBe(`Nothing was handed in. In ${folder}:`);
  expect(lines.slice(1)).toEqual([
    "  dangling.xml can't be read: it isn't there",
    "  empty.xml is empty",
    expect.stringMatching(/^ {2}k+\.xml can't name an invoice; allowed before \.xml: 1 to 100 of letters/),
    `  large.pdf has ${documentBytesMax + 1} bytes; allowed: at most ${documentBytesMax}`,
    expect.stringMatching(/^ {2}two words\.xml can't name an invoice/),
    "  same.pdf and same.xml would both be the invoice same; keep one of them",
  ]);
});

test.skipIf(process.getuid?.() === 0)("a file that this user may not read is named", async () => {
  const folder = await folderWith({});
  await writeFile(join(folder, "closed.xml"), "c", { mode: 0 });
  expect(await refusal(folder)).toContain("closed.xml can't be read: this user may not read it");
});
