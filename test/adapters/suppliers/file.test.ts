import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InvalidSuppliersFile, readSupplierDirectory } from "../../../adapters/suppliers/file.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "killproof-suppliers-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(content: string): Promise<string> {
  const file = path.join(folder, "suppliers.json");
  await writeFile(file, content);
  return file;
}

const one = { vatId: "DE811907980", name: "Hafen Papier GmbH", currencies: ["EUR"] };

test("finds a supplier by the VAT identifier, and nobody by another", async () => {
  const directory = await readSupplierDirectory(await fileOf(JSON.stringify([one])));
  expect(await directory.find(one.vatId)).toEqual(one);
  expect(await directory.find("DE000000000")).toBeUndefined();
});

test.each([
  ["no JSON", "{", "can't be read as JSON"],
  ["an empty list", "[]", "must hold one supplier or more"],
  ["a supplier twice", JSON.stringify([one, one]), "DE811907980 is there twice"],
  [
    "an identifier with blanks",
    JSON.stringify([{ ...one, vatId: "DE 811 907 980" }]),
    "0.vatId: must be a VAT",
  ],
  ["no currency", JSON.stringify([{ ...one, currencies: [] }]), "0.currencies"],
  ["an unknown field", JSON.stringify([{ ...one, iban: "DE00" }]), "iban"],
])("refuses a file with %s", async (_what, content, message) => {
  const read = readSupplierDirectory(await fileOf(content));
  await expect(read).rejects.toThrow(InvalidSuppliersFile);
  await expect(read).rejects.toThrow(message);
});

test("names a file that isn't there", async () => {
  const absent = path.join(folder, "absent.json");
  await expect(readSupplierDirectory(absent)).rejects.toThrow(absent);
});
