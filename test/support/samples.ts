/** The sample invoices as files and as what is read from them. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ExtractedInvoice } from "../../activities/invoice-approval/invoice-document/invoice.js";
import { readInvoice } from "../../activities/invoice-approval/invoice-document/read-invoice.js";

export const samplesFolder = path.resolve("scenarios/invoice-approval/files");

export function sampleFile(name: string): Promise<Buffer> {
  return readFile(path.join(samplesFolder, name));
}

export async function sampleText(name: string): Promise<string> {
  return (await sampleFile(name)).toString("utf8");
}

export async function readSample(name: string): Promise<ExtractedInvoice> {
  return readInvoice(await sampleFile(name));
}

export function readText(text: string): Promise<ExtractedInvoice> {
  return readInvoice(new TextEncoder().encode(text));
}
