/**
 * The SDK's own download. It has no call that only downloads: a server is started by it and stopped again, in a
 * process of its own, because the SDK's runtime can be configured only once per process, and that is the
 * caller's to do.
 */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { adoptProgram, inWorkFolder, sdkPath } from "../cache.js";
import { messageOf } from "../errors.js";
import type { ServerKind } from "../kinds.js";
import { probe } from "../program.js";
import { sdkVersion, workerPackagePath } from "../sdk-version.js";
import type { Source } from "./source.js";

const run = promisify(execFile);

/** 45 MB on a slow line. Where the host can't be reached it fails in well under a second. */
const downloadMsMax = 180_000;

const nativeType: Readonly<Record<ServerKind, string>> = {
  devServer: "dev-server",
  timeSkippingServer: "time-skipping",
};

/** Arguments: worker package, server type, folder, SDK version. */
const script = `
const [workerPackage, type, downloadDir, sdkVersion] = process.argv.slice(1);
const { Runtime, DefaultLogger } = require(workerPackage);
Runtime.install({ logger: new DefaultLogger("ERROR") });
const exe = { type: "cached-download", downloadDir, version: "default", ttl: 0, sdkName: "sdk-typescript", sdkVersion };
const devServer = { namespace: "default", ip: "127.0.0.1", uiPort: null, dbFilename: null, ui: false, log: { format: "pretty", level: "error" } };
const config = { type, exe, port: null, extraArgs: [], ...(type === "dev-server" ? devServer : {}) };
(async () => {
  const runtime = Runtime.instance();
  const server = await runtime.createEphemeralServer(config);
  await runtime.shutdownEphemeralServer(server);
  await runtime.shutdown();
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
`;

export const fromSdk: Source = async ({ kind, server, environment, cacheFolder, notice }) => {
  const version = sdkVersion();
  const what = `download by the Temporal SDK ${version}`;
  try {
    return await inWorkFolder(cacheFolder, async (folder) => {
      const args = ["-e", script, workerPackagePath(), nativeType[kind], folder, version];
      await run(process.execPath, args, { timeout: downloadMsMax, cwd: folder, env: { ...environment } });
      const [downloaded] = await readdir(folder);
      if (downloaded === undefined) return { found: false, misses: [{ what, reason: "it left no file" }] };
      const file = join(folder, downloaded);
      const result = await probe(server, file);
      if (typeof result === "string") return { found: false, misses: [{ what, reason: result }] };
      const path = sdkPath(cacheFolder, server, version);
      await adoptProgram(file, path);
      notice(`Downloaded the ${server.title} ${result.version} with the Temporal SDK, to ${path}.`);
      return { found: true, path, version: result.version };
    });
  } catch (error) {
    return { found: false, misses: [{ what, reason: reasonOf(error) }] };
  }
};

function reasonOf(error: unknown): string {
  const stderr =
    typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : "";
  return stderr === "" ? messageOf(error) : (stderr.split("\n").at(-1) ?? stderr);
}
