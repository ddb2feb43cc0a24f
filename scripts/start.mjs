// Compiles the project, and then is the program that it was asked for: node scripts/start.mjs dist/cli/main.js demo
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { whenLauncherEnds } from "./launcher.mjs";

const project = join(import.meta.dirname, "..");
const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) throw new Error("usage: node scripts/start.mjs <compiled entry point> [arguments]");

/** What a shell says of a program that SIGTERM ended. */
const terminatedExitCode = 143;

let compiling;
whenLauncherEnds(() => {
  // The program closes what it has open, as when a person ends it; while it is compiled, nothing is open.
  if (compiling === undefined) return void process.kill(process.pid, "SIGTERM");
  compiling.kill("SIGKILL");
  process.exit(terminatedExitCode);
});
await compile();
process.argv.splice(1, process.argv.length - 1, resolve(project, entry), ...args);
await import(pathToFileURL(process.argv[1]).href);

async function compile() {
  if (!existsSync(join(project, "dist", ".tsbuildinfo")))
    process.stderr.write("Compiling. The first time takes up to a minute.\n");
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  compiling = spawn(
    process.execPath,
    [join(typescript, "bin", "tsc"), "-p", join(project, "tsconfig.json")],
    {
      stdio: ["ignore", 2, 2],
    },
  );
  const code = await new Promise((ended, failed) => {
    compiling.on("error", failed);
    compiling.on("exit", (exitCode, signal) => ended(signal ? 1 : exitCode));
  });
  compiling = undefined;
  if (code !== 0) process.exit(code);
}
