/**
 * `node pdf-process.js PARENT`: reads one PDF in a process of its own: the file on standard input, its content as one line of JSON on standard
 * output. A PDF is a program as much as a document: a thousand bytes of it can ask for gigabytes, or for hours. Here it
 * costs this process only, which `pdf-guard.ts` ends.
 * PARENT is the process id of whoever waits for the answer.
 */
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { readPdfContent } from "./pdf-reader.js";

const guard = new Worker(new URL("./pdf-guard.js", import.meta.url), {
  workerData: { startedBy: Number(process.argv[2]) },
});
await once(guard, "message");
guard.unref();
process.stdout.write(JSON.stringify(await readPdfContent(await buffer(process.stdin))));
