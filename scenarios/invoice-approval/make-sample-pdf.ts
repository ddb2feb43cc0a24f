/**
 * Makes the two PDF samples in `files/`, byte for byte the same on every run:
 *
 *     npx tsc -p tsconfig.json && node dist/scenarios/invoice-approval/make-sample-pdf.js
 *
 * The PDFs are written by hand, object by object, because all that the samples need is a text layer and an embedded
 * file, and because no writer then puts a date or a random id into them.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

/** An invoice that exists as text only, in the layout of `pdf-layout.ts`. */
export const textLayerLines = [
  "Harrow Cleaning Ltd, 14 Station Road, Leeds",
  "",
  "INVOICE",
  "Invoice number: HC-0593",
  "Issue date: 2026-03-06",
  "Supplier: Harrow Cleaning Ltd",
  "VAT ID: GB480291175",
  "Currency: GBP",
  "",
  "Item 1: Office cleaning, February | 4 x 118.50 | 20 % | 474.00",
  "Item 2: Window cleaning | 1 x 96.00 | 20 % | 96.00",
  "Item 3: Leaflet on waste separation | 10 x 0.95 | 0 % | 9.50",
  "",
  "VAT 20 %: 570.00 | 114.00",
  "VAT 0 %: 9.50 | 0.00",
  "Net total: 579.50",
  "VAT total: 114.00",
  "Gross total: 693.50",
  "",
  "Thank you for your custom.",
];

/** The page of the hybrid sample says nothing that counts: what counts is the XML inside. */
const hybridPageLines = ["This page is a picture of the embedded invoice factur-x.xml."];

export function textLayerPdf(): Buffer {
  return pdfOf(textLayerLines);
}

export function hybridPdf(embeddedXml: Buffer): Buffer {
  return pdfOf(hybridPageLines, { name: "factur-x.xml", content: embeddedXml });
}

/** The same invoice a month later, under a number of its own, so that both can be posted side by side. */
export function hybridInvoice(hostingXml: string): Buffer {
  return Buffer.from(hostingXml.replace("R-88231", "R-88305").replace("20260301", "20260401"));
}

/** @param lines Latin-1 text, at most one page of it */
function pdfOf(lines: readonly string[], embedded?: { name: string; content: Buffer }): Buffer {
  const text = [
    "BT",
    "/F1 10 Tf",
    "14 TL",
    "56 780 Td",
    ...lines.map((line) => `(${escaped(line)}) Tj T*`),
    "ET",
  ];
  const names = embedded ? " /Names << /EmbeddedFiles << /Names [(factur-x.xml) 6 0 R] >> >>" : "";
  const objects = [
    Buffer.from(`<< /Type /Catalog /Pages 2 0 R${names} >>`),
    Buffer.from("<< /Type /Pages /Kids [3 0 R] /Count 1 >>"),
    Buffer.from(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
    ),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"),
    streamObject("", Buffer.from(text.join("\n"), "latin1")),
  ];
  if (embedded) {
    objects.push(
      Buffer.from(`<< /Type /Filespec /F (${embedded.name}) /UF (${embedded.name}) /EF << /F 7 0 R >> >>`),
      streamObject(" /Type /EmbeddedFile /Subtype /text#2Fxml", embedded.content),
    );
  }
  return assembled(objects);
}

function streamObject(entries: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`<<${entries} /Length ${content.byteLength} >>\nstream\n`),
    content,
    Buffer.from("\nendstream"),
  ]);
}

/** Joins the objects and writes the table that says at which byte each begins. */
function assembled(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n", "latin1")];
  const offsets: number[] = [];
  let length = parts[0]!.byteLength;
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    offsets.push(length);
    parts.push(part);
    length += part.byteLength;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}` +
        `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

function escaped(line: string): string {
  return line.replaceAll(/[\\()]/g, (character) => `\\${character}`);
}

async function main(): Promise<void> {
  const folder = path.resolve("scenarios/invoice-approval/files");
  await writeFile(path.join(folder, "cleaning.pdf"), textLayerPdf());
  const xml = await readFile(path.join(folder, "hosting.cii.xml"), "utf8");
  await writeFile(path.join(folder, "hosting-hybrid.pdf"), hybridPdf(hybridInvoice(xml)));
}

if (process.argv[1] === import.meta.filename) await main();
