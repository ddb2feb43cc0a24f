/**
 * An outside system that does nothing but take its time: it answers each posting after `PROVIDER_MS` milliseconds.
 * A process of its own, so that what it costs to answer is paid by neither of the two calls that are compared.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/** The command line was wrong; nothing was started. */
const badSettingsExitCode = 2;

const settings = z
  .object({ PROVIDER_MS: z.coerce.number().int().min(0).max(60_000) })
  .safeParse({ PROVIDER_MS: process.env["PROVIDER_MS"] });
if (!settings.success) {
  process.stderr.write(
    `PROVIDER_MS is ${JSON.stringify(process.env["PROVIDER_MS"])}; allowed: whole milliseconds from 0 to 60000.\n`,
  );
  process.exit(badSettingsExitCode);
}
const answerMs = settings.data.PROVIDER_MS;

/** How many sends came, and under how many different keys: equal when nothing was sent twice. */
let sends = 0;
const keys = new Set<string>();

const server = createServer((request, response) => {
  if (request.method === "GET") {
    answer(200, { sends, keys: keys.size });
    return;
  }
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    sends += 1;
    keys.add(String(request.headers["idempotency-key"]));
    const { reference } = JSON.parse(Buffer.concat(parts).toString("utf8")) as { reference: string };
    setTimeout(() => answer(201, { id: reference }), answerMs);
  });

  function answer(status: number, body: unknown): void {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  }
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ event: "ready", port })}\n`);
});
process.on("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
