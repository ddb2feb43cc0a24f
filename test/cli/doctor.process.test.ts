import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { doctor } from "../../cli/doctor.js";
import type { DoctorReport } from "../../cli/doctor-report.js";
import { packageRoot } from "../../platform/index.js";

afterEach(() => vi.unstubAllEnvs());

async function consult(json: boolean): Promise<{ readonly code: number; readonly output: string }> {
  let output = "";
  const code = await doctor({ json, stdout: { write: (text) => (output += text) } });
  return { code, output };
}

const runsOfDoctor = (): string[] => {
  const runs = join(packageRoot(), ".killproof");
  return existsSync(runs)
    ? readdirSync(runs).filter((name) => name.startsWith(`doctor-${process.pid}-`))
    : [];
};

test("where everything is there, it says so with versions and exits with 0, and leaves no run behind", async () => {
  const { code, output } = await consult(true);
  const report = JSON.parse(output) as DoctorReport;
  expect(report.checks.filter((check) => check.needed).map(({ name, ok }) => ({ name, ok }))).toEqual([
    { name: "Temporal development server", ok: true },
    { name: "embedded Postgres", ok: true },
  ]);
  expect(report.checks.map((check) => check.summary).join("\n")).toMatch(
    /server \d+\.\d+\.\d+ .*\n\d+\.\d+ on port \d+/,
  );
  expect(code).toBe(0);
  expect(runsOfDoctor()).toEqual([]);
});

test("what can't be had is named in the text with what was tried, no password shown, and the exit code is 2", async () => {
  vi.stubEnv("KILLPROOF_TEMPORAL_SOURCES", "path");
  vi.stubEnv("TEMPORAL_CLI_PATH", "/no/such/temporal");
  vi.stubEnv("DATABASE_URL", "postgres://someone:secret@127.0.0.1:1/postgres");
  const { code, output } = await consult(false);
  expect(code).toBe(2);
  expect(output).toMatch(/^MISSING +Temporal development server: No Temporal development server to be had/m);
  expect(output).toMatch(/^ +path: TEMPORAL_CLI_PATH=\/no\/such\/temporal: there is no such program$/m);
  expect(output).toMatch(
    /^MISSING +DATABASE_URL: DATABASE_URL \(someone@127\.0\.0\.1:1\/postgres\) can't be reached/m,
  );
  expect(output).not.toContain("secret");
  expect(output.trimEnd().endsWith("The demo can't run here: see what is MISSING.")).toBe(true);
});
