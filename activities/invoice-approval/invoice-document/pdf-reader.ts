/**
 * What a PDF holds that can be an invoice. The work and the memory that this costs are up to the file, so only a process
 * of its own should call it: see `pdf-apart.ts`.
 */
import { getDocumentProxy, extractText } from "unpdf";
import { InvalidDocument } from "./invalid-document.js";
import {
  embeddedBytesMax,
  embeddedInvoiceNames,
  pagesMax,
  textCharactersMax,
  type PdfContent,
} from "./pdf-content.js";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

interface Attachment {
  readonly filename: string;
  readonly content?: Uint8Array;
}

/** The reader's own word for "errors only": its warnings would stand between the lines of a log. */
const errorsOnly = 0;

/** Never rejects: whatever the reader throws, the cause is the file, as it has nothing else to do with. */
export async function readPdfContent(bytes: Uint8Array): Promise<PdfContent> {
  try {
    return await contentOf(bytes);
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): PdfContent {
  if (error instanceof InvalidDocument) {
    const { field, value, allowed } = error;
    return { kind: "refused", field, allowed, ...(value !== undefined && { value }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "refused", field: "document", value: message, allowed: "a readable PDF without a password" };
}

async function contentOf(bytes: Uint8Array): Promise<PdfContent> {
  // A copy: the reader detaches the buffer that it is given.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: errorsOnly });
  try {
    return await contentOfDocument(document);
  } finally {
    await document.destroy();
  }
}

async function contentOfDocument(document: PdfDocument): Promise<PdfContent> {
  if (document.numPages > pagesMax) {
    throw new InvalidDocument("PDF pages", String(document.numPages), `at most ${pagesMax}`);
  }
  const embedded = embeddedInvoice(await attachmentsOf(document));
  if (embedded) return { kind: "embedded", xmlBase64: Buffer.from(embedded).toString("base64") };
  const { text: pages } = await extractText(document, { mergePages: false });
  const characters = pages.reduce((sum, page) => sum + page.length, 0);
  if (characters > textCharactersMax) {
    throw new InvalidDocument("PDF text", `${characters} characters`, `at most ${textCharactersMax}`);
  }
  return { kind: "text", pages };
}

/** Two invoices in one file would be a choice that isn't ours to make. */
function embeddedInvoice(attachments: readonly Attachment[]): Uint8Array | undefined {
  const found = attachments.filter(({ filename }) => embeddedInvoiceNames.includes(filename.toLowerCase()));
  if (found.length > 1) {
    const names = found.map(({ filename }) => filename).join(", ");
    throw new InvalidDocument("PDF attachments", names, "one embedded invoice");
  }
  const [invoice] = found;
  if (!invoice) return undefined;
  const bytes = invoice.content?.byteLength ?? 0;
  if (!invoice.content || bytes > embeddedBytesMax) {
    throw new InvalidDocument(
      invoice.filename,
      `${bytes} bytes`,
      `content of at most ${embeddedBytesMax} bytes`,
    );
  }
  return invoice.content;
}

/**
 * All embedded files, those pinned to a page included.
 *
 * @throws InvalidDocument when two stand under one name: the reader keeps the last one only
 */
async function attachmentsOf(document: PdfDocument): Promise<Attachment[]> {
  const { result, named } = await countingFiles(() => document.getAttachments());
  const attachments = Object.values((result ?? {}) as Record<string, Attachment>);
  if (named > attachments.filter(({ content }) => content !== undefined && content !== null).length) {
    throw new InvalidDocument("PDF attachments", "two files under one name", "each name once");
  }
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const annotations = (await page.getAnnotations()) as { readonly file?: Attachment }[];
    attachments.push(...annotations.flatMap(({ file }) => file ?? []));
  }
  return attachments;
}

/**
 * Counts the embedded files that the reader enters into its map of names. It tells nobody when an entry replaces
 * another, so its entries are counted from outside. A process that does anything else meanwhile may have an entry too many counted, never one too few.
 */
async function countingFiles<T>(read: () => Promise<T>): Promise<{ result: T; named: number }> {
  const { set } = Map.prototype;
  const files = new Set<object>();
  // oxlint-disable-next-line eslint/no-extend-native -- the only place where a replaced entry can be seen
  Map.prototype.set = function counted(this: Map<unknown, unknown>, key: unknown, value: unknown) {
    if (typeof key === "string" && isFileSpecification(value)) files.add(value);
    return set.call(this, key, value) as Map<unknown, unknown>;
  };
  try {
    const result = await read();
    return { result, named: files.size };
  } finally {
    // oxlint-disable-next-line eslint/no-extend-native -- as it was
    Map.prototype.set = set;
  }
}

/** A dictionary of the reader's that has embedded content. */
function isFileSpecification(value: unknown): value is object {
  const dictionary = value as { readonly has?: unknown; readonly getRaw?: unknown } | null | undefined;
  return (
    typeof dictionary === "object" &&
    typeof dictionary?.has === "function" &&
    typeof dictionary.getRaw === "function" &&
    dictionary.has("EF") === true
  );
}
