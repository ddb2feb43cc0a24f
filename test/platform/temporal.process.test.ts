import { Client, Connection } from "@temporalio/client";
import { InternalConnectionOptionsSymbol } from "@temporalio/client/lib/connection.js";
import { msToTs } from "@temporalio/common/lib/time.js";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  freePort,
  openRun,
  searchAttributes,
  startTemporal,
  UserFacingError,
  type Run,
} from "../../platform/index.js";
import { processRow } from "../../platform/process-table.js";

let folder: string;
let run: Run;
let notices: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "killproof-temporal-test-"));
  notices = [];
  const notice = (line: string): void => void notices.push(line);
  run = await openRun({ name: "temporal", runsFolder: join(folder, "runs"), handleSignals: false, notice });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await run.close();
  rmSync(folder, { recursive: true });
});

async function withClient<Result>(
  address: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

const startWaiting = (address: string, workflowId: string): Promise<unknown> =>
  withClient(address, (client) =>
    client.workflow.start("neverPolled", {
      workflowId,
      taskQueue: "no-worker",
      searchAttributes: { KillproofCase: ["a-case"], KillproofDeadline: [new Date(0)] },
    }),
  );

test("with a database file, running workflows outlive a kill of the server, at the same address", async () => {
  const server = await startTemporal(run, { name: "killed", databaseFile: join(run.folder, "temporal.db") });
  expect(server).toMatchObject({ owned: true, namespace: "default" });
  await startWaiting(server.address, "outlives");
  const { address } = server;
  await server.kill();
  await server.restart();
  expect(server.address).toBe(address);
  const status = await withClient(address, (client) => client.workflow.getHandle("outlives").describe());
  expect(status.status.name).toBe("RUNNING");
});

test("on the time-skipping server a month passes at once", async () => {
  const server = await startTemporal(run, { name: "skipping", timeSkipping: true });
  // Only with this option does the SDK's connection know the calls that move the clock.
  const withTestService = { [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
  const connection = await Connection.connect({ address: server.address, ...withTestService });
  const now = async (): Promise<number> =>
    Number((await connection.testService?.getCurrentTime({}))?.time?.seconds ?? Number.NaN);
  const before = await now();
  await connection.testService?.unlockTimeSkippingWithSleep({ duration: msToTs("30 days") });
  expect((await now()) - before).toBeGreaterThanOrEqual(30 * 24 * 60 * 60);
  await connection.close();
});

test("a server that is named by its address is used, prepared and left running", async () => {
  const other = await startTemporal(run, { name: "other" });
  const address = other.address;
  vi.stubEnv("TEMPORAL_ADDRESS", address);
  const given = await startTemporal(run, { name: "given" });
  expect(given).toMatchObject({ address, owned: false, source: "address", version: other.version });
  await expect(given.kill()).rejects.toThrow(/isn't ours to kill/);
  await given.stop();
  await startWaiting(address, "on-given");
  const { customAttributes } = await withClient(address, (client) =>
    client.connection.operatorService.listSearchAttributes({ namespace: "default" }),
  );
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));

  vi.stubEnv("TEMPORAL_NAMESPACE", "absent");
  await expect(startTemporal(run, { name: "given" })).rejects.toThrow(
    /^TEMPORAL_ADDRESS is ".*", but .* can't be used with the namespace "absent": .*Unset it to have a server started\.$/,
  );
});

test("an address where nothing serves is refused with the address, and nothing is started instead", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  vi.stubEnv("TEMPORAL_ADDRESS", address);
  const starting = startTemporal(run, { name: "refused" });
  await expect(starting).rejects.toThrow(UserFacingError);
  await expect(starting).rejects.toThrow(`TEMPORAL_ADDRESS is "${address}"`);
});

test("no server to be had is one clear message for a person, with exit code 2", async () => {
  vi.stubEnv("KILLPROOF_TEMPORAL_SOURCES", "path");
  vi.stubEnv("TEMPORAL_CLI_PATH", join(folder, "absent"));
  vi.stubEnv("PATH", folder);
  await expect(startTemporal(run, { name: "none" })).rejects.toMatchObject({
    name: "UserFacingError",
    exitCode: 2,
    message: expect.stringMatching(
      /^No Temporal development server to be had\.[^]*no such program[^]*What would help/,
    ),
  });
});

test("a named port that is taken is refused", async () => {
  const port = await freePort();
  const holder = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  await expect(startTemporal(run, { name: "named", port })).rejects.toThrow(
    `port ${port} for Temporal named is taken on 127.0.0.1`,
  );
  await new Promise((resolve) => holder.close(resolve));
});

test("the server ends with its run", async () => {
  const server = await startTemporal(run, { name: "ends", ui: true });
  const page = await fetch(server.uiUrl ?? "");
  expect(page.status).toBe(200);
  await run.close();
  await expect(fetch(server.uiUrl ?? "")).rejects.toThrow();
  expect(processRow(process.pid)).toBeDefined();
});
