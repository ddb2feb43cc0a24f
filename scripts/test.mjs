// The one list of checks. `npm test` and CI run exactly this, one after the other; each failure prints the
// command that repeats it, and the last line counts tests and checks together.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whenLauncherEnds } from "./launcher.mjs";

const scratch = mkdtempSync(join(tmpdir(), "killproof-test-"));
const vitestJson = join(scratch, "vitest.json");

const checks = [
  { name: "types", command: ["npm", "run", "-s", "build"] },
  { name: "format", command: ["npm", "run", "-s", "format:check"] },
  { name: "lint", command: ["npm", "run", "-s", "lint"] },
  { name: "layers", command: ["npm", "run", "-s", "layers"] },
  { name: "package", command: ["npm", "run", "-s", "check:package"] },
  {
    name: "tests",
    command: ["npx", "vitest", "run", "--reporter=default", "--reporter=json", `--outputFile=${vitestJson}`],
    repeat: "npx vitest run",
  },
];

let current;
let stopped = false;
const stop = (signal) => {
  stopped = true;
  if (current) current.kill(signal);
};
process.on("SIGINT", () => stop("SIGINT"));
process.on("SIGTERM", () => stop("SIGTERM"));
whenLauncherEnds(() => stop("SIGTERM"));

const run = (command) =>
  new Promise((resolve) => {
    current = spawn(command[0], command.slice(1), { stdio: "inherit" });
    current.on("error", () => resolve(127));
    current.on("exit", (code, signal) => resolve(signal ? 128 : code));
  });

let passed = 0;
let failed = 0;
let skipped = 0;
const failures = [];
for (const check of checks) {
  const startedAt = Date.now();
  process.stdout.write(`\n▶ ${check.name}\n`);
  const code = await run(check.command);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? "✓" : "✗"} ${check.name} (${seconds} s)\n`);
  if (code === 0) passed += 1;
  else {
    failed += 1;
    failures.push(check);
  }
  if (stopped) break;
  // Every later check reads what the compiler made.
  if (check.name === "types" && code !== 0) break;
}

try {
  const report = JSON.parse(readFileSync(vitestJson, "utf8"));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests + report.numTodoTests;
} catch {
  // The tests did not get far enough to write a report; that check is then counted as failed above.
}
rmSync(scratch, { recursive: true, force: true });

for (const check of failures) {
  process.stdout.write(`\nfailed: ${check.name}. To repeat: ${check.repeat ?? check.command.join(" ")}\n`);
}
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}\n`);
process.exitCode = failed === 0 ? 0 : 1;
