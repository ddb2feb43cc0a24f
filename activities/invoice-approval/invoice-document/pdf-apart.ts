/** Has a PDF read by a process of its own. */
import { execFile, type ExecFileException } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { InvalidDocument } from "./invalid-document.js";
import { guardReasons, type PdfContent } from "./pdf-content.js";

/** For strings and maps; what streams are unpacked into is watched by the guard. An ordinary invoice takes 20 MB. */
const heapMegabytesMax = 256;
/** More than the largest content that is handed back, which is an embedded file of 5 MB in base64. */
const outputBytesMax = 16 * 1024 * 1024;

/** What the engine says when it ends the process at its own limit, or because one table would be too large for it. */
const engineOutOfMemory = /JavaScript heap out of memory|Fatal JavaScript invalid size/;

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * One PDF at a time, so that several hostile ones together cost no more memory than one. An ordinary one takes half
 * a second.
 *
 * @throws InvalidDocument when the PDF is refused, or takes more memory or computing time than an invoice needs
 * @throws Error when the process ended in another way; trying again may help
 */
export function readPdfApart(bytes: Uint8Array): Promise<PdfContent> {
  const turn = lastTurn.then(() => read(bytes));
  lastTurn = turn.catch(() => undefined);
  return turn;
}

function read(bytes: Uint8Array): Promise<PdfContent> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [`--max-old-space-size=${heapMegabytesMax}`, compiledScript(), String(process.pid)],
      // No variables: what a hostile file might reach must hold no secret.
      { env: {}, maxBuffer: outputBytesMax, encoding: "utf8" },
      (error, output, notes) => {
        if (error) reject(failureOf(error, notes));
        else resolve(JSON.parse(output) as PdfContent);
      },
    );
    // It may have been ended before it took everything; how it ended says why.
    child.stdin!.on("error", () => undefined);
    child.stdin!.end(bytes);
  });
}

function failureOf(error: ExecFileException, notes: string): Error {
  const { memory, computing } = guardReasons;
  if (notes.includes(memory) || engineOutOfMemory.test(notes)) {
    return new InvalidDocument("PDF", "too much memory to read it", "what an invoice needs");
  }
  if (notes.includes(computing)) {
    return new InvalidDocument("PDF", "too much computing time to read it", "what an invoice needs");
  }
  const end = error.signal ?? error.code ?? "no code";
  return new Error(`the process that reads the PDF ended with ${end}: ${notes.slice(-500)}`, {
    cause: error,
  });
}

/**
 * Beside this file when it is compiled. A test runner reads the sources; processes run compiled code there, too, so
 * that what is ended and measured is what a person runs.
 */
function compiledScript(): string {
  const name = "pdf-process.js";
  const beside = join(import.meta.dirname, name);
  if (existsSync(beside)) return beside;
  const root = packageRoot(import.meta.dirname);
  const compiled = join(root, "dist", relative(root, import.meta.dirname), name);
  if (!existsSync(compiled)) throw new Error(`${compiled} doesn't exist. Run "npm run build" first.`);
  return compiled;
}

function packageRoot(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
    if (dirname(folder) === folder) throw new Error(`no package.json at or above ${from}`);
  }
}
