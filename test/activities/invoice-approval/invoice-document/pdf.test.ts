import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { readInvoice } from "../../../../activities/invoice-approval/invoice-document/read-invoice.js";
import { hybridInvoice } from "../../../../scenarios/invoice-approval/make-sample-pdf.js";
import { pdfOf, pdfWithFiles, streamOf } from "../../../support/pdf.js";
import { readSample, sampleText } from "../../../support/samples.js";

const factur = "factur-x.xml";
let plain: Buffer;
let xml: Buffer;
let bomb: Buffer;

beforeAll(async () => {
  xml = hybridInvoice(await sampleText("hosting.cii.xml"));
  bomb = makeBomb();
  plain = streamOf("/Type /EmbeddedFile", xml);
});

const file = (name: string, stream: Buffer, key = name) => ({ key, name, stream });

/** Refused as a document, so that nobody tries it again. */
async function refusal(pdf: Uint8Array): Promise<string> {
  const error: unknown = await readInvoice(pdf).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "InvalidDocument" });
  return (error as Error).message;
}

const pages = [
  "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
  "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
];
const onePage = (contents: Buffer) =>
  pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    ...pages,
    contents,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ]);

/** The first two bytes of packed data, for which the packing of each part leaves no place. */
const packedBegin = Buffer.of(0x78, 0x9c);

/** 600 million blanks, packed twice into a few thousand bytes. Parts that end flushed can stand one after another. */
function makeBomb(): Buffer {
  const million = deflateRawSync(Buffer.alloc(1_000_000, " "), { finishFlush: constants.Z_FULL_FLUSH });
  const parts = Array.from({ length: 600 }, () => million);
  const packed = Buffer.concat([packedBegin, ...parts, deflateRawSync("")]);
  return streamOf("/Filter [/FlateDecode /FlateDecode]", deflateSync(packed));
}

test("reads a packed invoice beside a file that is none", async () => {
  const packed = streamOf("/Type /EmbeddedFile /Filter /FlateDecode", deflateSync(xml));
  const pdf = pdfWithFiles([file("terms.txt", streamOf("", "as agreed")), file("Factur-X.xml", packed)]);
  expect(await readInvoice(pdf)).toEqual(await readSample("hosting-hybrid.pdf"));
});

test(
  "refuses streams that unpack to more than an invoice, whatever they are for",
  { timeout: 120_000 },
  async () => {
    expect(bomb.byteLength).toBeLessThan(10_000);
    const tooMuch = /^PDF is "too much (memory|computing time) to read it"/;
    expect(await refusal(pdfWithFiles([file(factur, bomb)]))).toMatch(tooMuch);
    expect(await refusal(pdfWithFiles([file("terms.txt", bomb), file(factur, plain)]))).toMatch(tooMuch);
    expect(await refusal(onePage(bomb))).toMatch(tooMuch);
  },
);

test("refuses a font whose table of characters would fill the memory", { timeout: 120_000 }, async () => {
  const ranges = Array.from({ length: 4 }, (_, index) => {
    const digit = index.toString(16);
    return `<0${digit}000000> <0${digit}fffffe> <0041>`;
  });
  const table = `begincmap\n${ranges.length} beginbfrange\n${ranges.join("\n")}\nendbfrange\nendcmap\n`;
  const pdf = pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    ...pages,
    streamOf("", "BT /F1 10 Tf 56 780 Td (text) Tj ET"),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
    streamOf("", table),
  ]);
  expect(await refusal(pdf)).toMatch(/too much (memory|computing time)/);
});

test.each([
  ["under two known names", [factur, "ZUGFeRD-invoice.xml"], [], "factur-x.xml, ZUGFeRD-invoice.xml"],
  ["under one name with two keys", [factur, factur], ["one", "two"], "factur-x.xml, factur-x.xml"],
  ["under one name with one key", [factur, factur], [], "two files under one name"],
])("refuses two embedded invoices %s", async (_what, names, keys, message) => {
  const files = names.map((name, index) => file(name, plain, keys[index]));
  expect(await refusal(pdfWithFiles(files))).toContain(`PDF attachments is "${message}"`);
});

test("refuses an embedded invoice beside another that is pinned to the page", async () => {
  const specification = (content: number) =>
    `<< /Type /Filespec /F (${factur}) /EF << /F ${content} 0 R >> >>`;
  const pdf = pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(${factur}) 4 0 R] >> >> >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Annots [<< /Type /Annot /Subtype /FileAttachment " +
      "/Rect [0 0 9 9] /FS 6 0 R >>] >>",
    specification(5),
    plain,
    specification(7),
    plain,
  ]);
  expect(await refusal(pdf)).toContain('PDF attachments is "factur-x.xml, factur-x.xml"');
});

test.each([
  ["pages that contain themselves", ["<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]],
  ["no pages", ["null"]],
  ["a page that isn't there", ["<< /Type /Pages /Kids [9 0 R] /Count 1 >>"]],
  ["a font that isn't one", [...pages, streamOf("", "BT /F1 10 Tf (text) Tj ET"), "(no font)"]],
])("refuses a damaged PDF with %s as a document", async (_what, rest) => {
  expect(await refusal(pdfOf(["<< /Type /Catalog /Pages 2 0 R >>", ...rest]))).toContain("allowed: ");
});

test("refuses an embedded file that can't be unpacked", async () => {
  const broken = streamOf("/Filter /FlateDecode", "nothing that was packed");
  expect(await refusal(pdfWithFiles([file(factur, broken)]))).toContain("allowed: ");
});

test(
  "a hostile PDF changes nothing for one that is read at the same time",
  { timeout: 120_000 },
  async () => {
    const [refused, read] = await Promise.all([
      refusal(pdfWithFiles([file(factur, bomb)])),
      readInvoice(pdfWithFiles([file(factur, plain)])),
    ]);
    expect(refused).toContain("too much");
    expect(read.number).toBe("R-88305");
  },
);
