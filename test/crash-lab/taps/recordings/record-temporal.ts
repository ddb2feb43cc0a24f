/**
 * Records the bodies of a real worker's and a real client's calls and of the server's answers.
 *
 * Usage, after `npm run build`: `node dist/test/crash-lab/taps/recordings/record-temporal.js HOST:PORT`.
 */
import { writeFileSync } from "node:fs";
import http2 from "node:http2";
import type net from "node:net";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { collectRequest, exchange, respond } from "../../../../crash-lab/taps/temporal/exchange.js";
import { createActivities } from "../temporal/activities.js";

export interface RecordedCall {
  readonly path: string;
  readonly requestEncoding: string;
  /** Base64, as all bodies here. */
  readonly request: string;
  readonly answerEncoding: string;
  readonly answer: string;
}

const token = "kp0123456789ab";
/** Answers of these are long and of no interest. */
const left = /GetSystemInfo|DescribeNamespace|RecordWorkerHeartbeat|ShutdownWorker/;

async function record(address: string): Promise<RecordedCall[]> {
  const calls: RecordedCall[] = [];
  const upstream = http2.connect(`http://${address}`);
  const relay = http2.createServer();
  relay.on("stream", (stream, headers) => {
    void (async () => {
      const body = await collectRequest(stream);
      if (body === null) return;
      const outgoing = upstream.request(headers);
      stream.on("close", () => outgoing.close());
      const answer = await exchange(outgoing, body);
      const path = String(headers[":path"]);
      if (!left.test(path)) {
        calls.push({
          path,
          requestEncoding: String(headers["grpc-encoding"] ?? "identity"),
          request: body.toString("base64"),
          answerEncoding: String(answer.headers["grpc-encoding"] ?? "identity"),
          answer: answer.body.toString("base64"),
        });
      }
      respond(stream, answer);
    })().catch(() => stream.close());
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const through = `127.0.0.1:${(relay.address() as net.AddressInfo).port}`;

  const taskQueue = "recording";
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address: through }),
    taskQueue,
    identity: "recorded-worker",
    workflowsPath: fileURLToPath(new URL("../temporal/workflows.js", import.meta.url)),
    activities: createActivities(),
  });
  const client = new Client({ connection: await Connection.connect({ address: through }) });
  await worker.runUntil(
    client.workflow.execute("greeting", { taskQueue, workflowId: `greeting-${token}`, args: ["you"] }),
  );
  await client.connection.close();
  upstream.destroy();
  relay.close();
  return calls;
}

const address = process.argv[2];
if (address !== undefined) {
  const calls = await record(address);
  const file = new URL(
    "../../../../../test/crash-lab/taps/recordings/temporal-greeting.json",
    import.meta.url,
  );
  writeFileSync(file, `${JSON.stringify(calls, undefined, 1)}\n`);
  process.exit(0);
}
