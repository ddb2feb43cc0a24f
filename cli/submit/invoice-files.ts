/** The invoices of a folder: which files they are, what each is called, and that each can be handed in at all. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { documentBytesMax } from "../../activities/invoice-approval/invoice-document/read-invoice.js";
import { messageOf, UserFacingError } from "../../platform/index.js";
import { keyPattern } from "../../workflows/invoice-approval/limits.js";

export interface InvoiceFile {
  /** Name in the folder, which is the document's id. */
  readonly name: string;
  /** What the invoice is called from here on: the name without its extension. */
  readonly invoiceKey: string;
  /** Of the content, in lower-case hex. */
  readonly sha256: string;
}

export interface InvoiceFolder {
  /** In the byte order of their names, whatever order the file system gives. */
  readonly files: readonly InvoiceFile[];
  /** Names of what is no invoice by its extension; folders end with a slash. */
  readonly leftOut: readonly string[];
}

const extensions: readonly string[] = [".xml", ".pdf"];

/** As long as the API takes a document's id; what it may hold is the same as in a key. */
const nameCharactersMax = 200;
const nameAllowed = "letters, digits and . _ ~ @ + = -";

/**
 * Reads all of a folder before anything is handed in, so that a bad file stops the whole while nothing has happened.
 * Folders in it are not entered.
 *
 * @throws UserFacingError naming every file that can't be handed in, and why
 */
export async function readInvoiceFolder(folder: string): Promise<InvoiceFolder> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new UserFacingError(`The folder ${folder} can't be read: ${reasonOf(error)}.`, 2);
  });
  const isInvoice = (name: string) => extensions.includes(extname(name).toLowerCase());
  const names = entries
    .filter((entry) => !entry.isDirectory() && isInvoice(entry.name))
    .map(({ name }) => name);
  const leftOut = entries
    .filter(({ name }) => !names.includes(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  if (names.length === 0) {
    throw new UserFacingError(
      `The folder ${folder} holds no invoice: no file that ends in .xml or .pdf. Folders in it aren't entered.`,
      2,
    );
  }
  const faults: string[] = [];
  const files: InvoiceFile[] = [];
  for (const name of inByteOrder(names)) {
    const read = await readInvoiceFile(folder, name);
    if (typeof read === "string") faults.push(`${name} ${read}`);
    else files.push(read);
  }
  faults.push(...sharedKeys(files));
  if (faults.length > 0) {
    throw new UserFacingError(
      `Nothing was handed in. In ${folder}:\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
      2,
    );
  }
  return { files, leftOut: inByteOrder(leftOut) };
}

/** @returns the file, or what is wrong with it */
async function readInvoiceFile(folder: string, name: string): Promise<InvoiceFile | string> {
  const extension = extname(name);
  const invoiceKey = name.slice(0, -extension.length);
  if (!keyPattern.test(invoiceKey) || name.length > nameCharactersMax) {
    return `can't name an invoice; allowed before ${extension}: 1 to 100 of ${nameAllowed}`;
  }
  try {
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > documentBytesMax) return `has ${size} bytes; allowed: at most ${documentBytesMax}`;
    const bytes = await readFile(path);
    if (bytes.length === 0) return "is empty";
    return {
      name,
      invoiceKey,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    };
  } catch (error) {
    return `can't be read: ${reasonOf(error)}`;
  }
}

/** Two files that would be one invoice: `a.xml` beside `a.pdf`. */
function sharedKeys(files: readonly InvoiceFile[]): string[] {
  const byKey = new Map<string, string[]>();
  for (const { invoiceKey, name } of files) byKey.set(invoiceKey, [...(byKey.get(invoiceKey) ?? []), name]);
  return [...byKey]
    .filter(([, names]) => names.length > 1)
    .map(([key, names]) => `${names.join(" and ")} would both be the invoice ${key}; keep one of them`);
}

/** Not by the locale: the same folder has to give the same batches everywhere. */
function inByteOrder(names: readonly string[]): string[] {
  return names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it isn't there",
  ENOTDIR: "it is no folder",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  ELOOP: "its links lead in a circle",
};

function reasonOf(error: unknown): string {
  return reasons[(error as NodeJS.ErrnoException).code ?? ""] ?? messageOf(error);
}
