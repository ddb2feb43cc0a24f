/** `killproof doctor`: can the demo run here? It is tried, not guessed: each server is started and stopped. */
import { join } from "node:path";
import {
  cacheFolderFrom,
  NoTemporalServer,
  resolveTemporalServer,
  serverKinds,
  sourcesFrom,
  type Attempt,
} from "../adapters/temporal/server/index.js";
import {
  inspectServer,
  messageOf,
  openRun,
  packageRoot,
  startPostgres,
  startTemporal,
  unprivilegedAccount,
  type Run,
} from "../platform/index.js";
import { renderDoctorReport, type Check, type DoctorReport } from "./doctor-report.js";

export interface DoctorOptions {
  /** Print the report as one JSON document instead of text. */
  readonly json: boolean;
  readonly stdout: { write(text: string): unknown };
}

const settingNames = [
  "DATABASE_URL",
  "TEMPORAL_ADDRESS",
  "TEMPORAL_NAMESPACE",
  "TEMPORAL_CLI_PATH",
  "TEMPORAL_TEST_SERVER_PATH",
  "KILLPROOF_TEMPORAL_SOURCES",
  "XDG_CACHE_HOME",
] as const;

/**
 * Says what was found, in which versions, from which sources, and what is missing. It downloads a Temporal server
 * when only a download can give one, as the demo would.
 *
 * @returns the exit code: 0 when a demo can run here, 2 when it can't.
 */
export async function doctor({ json, stdout }: DoctorOptions): Promise<number> {
  const notices: string[] = [];
  const checks: Check[] = [];
  try {
    const run = await openRun({ name: "doctor", notice: (line) => notices.push(line) });
    try {
      checks.push(await checkTemporal(run, notices), await checkPostgres(run));
    } finally {
      await run.close();
    }
  } catch (error) {
    checks.push(failed("run", true, error));
  }
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") checks.push(await checkGivenDatabase(given));
  checks.push(await checkTimeSkipping());
  const report = describeMachine(checks, await accountName());
  stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderDoctorReport(report));
  return report.ok ? 0 : 2;
}

function describeMachine(checks: readonly Check[], postgresAccount: string | null): DoctorReport {
  const set = settingNames.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === "" ? [] : [[name, withoutPassword(value)] as const];
  });
  return {
    ok: checks.every((check) => check.ok || !check.needed),
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    root: process.getuid?.() === 0,
    postgresAccount,
    folders: { runs: join(packageRoot(), ".killproof"), cache: cacheFolderFrom(process.env) },
    settings: Object.fromEntries(set),
    checks,
  };
}

async function checkTemporal(run: Run, notices: readonly string[]): Promise<Check> {
  const name = serverKinds.devServer.title;
  const startedAt = performance.now();
  try {
    const order = `sources, in this order: TEMPORAL_ADDRESS, ${sourcesFrom(process.env).join(", ")}`;
    const server = await startTemporal(run, { name: "doctor" });
    const from =
      server.source === "address" ? `at ${server.address}` : `from ${server.source}, on ${server.address}`;
    const ready = server.owned ? `, ready in ${Math.round(performance.now() - startedAt)} ms` : "";
    await server.stop();
    const summary = `server ${server.version} ${from}${ready}`;
    return { name, ok: true, needed: true, summary, details: [...notices, order] };
  } catch (error) {
    return failed(name, true, error);
  }
}

async function checkPostgres(run: Run): Promise<Check> {
  const name = "embedded Postgres";
  const startedAt = performance.now();
  try {
    const server = await startPostgres(run, { name: "doctor" });
    const summary = `${server.version} on port ${server.port}, ready in ${Math.round(performance.now() - startedAt)} ms`;
    await server.stop();
    const where = server.copied
      ? "a copy, because the package's folder can't be used"
      : "in the package's folder";
    return {
      name,
      ok: true,
      needed: true,
      summary,
      details: [`binaries in ${server.binariesFolder} (${where})`],
    };
  } catch (error) {
    return failed(name, true, error);
  }
}

async function checkGivenDatabase(url: string): Promise<Check> {
  const name = "DATABASE_URL";
  try {
    const { version } = await inspectServer(url);
    return {
      name,
      ok: true,
      needed: true,
      summary: `Postgres ${version}, may create databases`,
      details: [],
    };
  } catch (error) {
    return failed(name, true, error);
  }
}

/** Only tests need it, so it isn't downloaded here. */
async function checkTimeSkipping(): Promise<Check> {
  const name = serverKinds.timeSkippingServer.title;
  const environment = { ...process.env, KILLPROOF_TEMPORAL_SOURCES: "path,cache" };
  try {
    const found = await resolveTemporalServer("timeSkippingServer", { environment });
    const summary = found.source === "address" ? "" : `${found.version} from ${found.source}, ${found.path}`;
    return { name, ok: true, needed: false, summary, details: [] };
  } catch (error) {
    const attempts = error instanceof NoTemporalServer ? error.attempts : [];
    const summary = "not here yet; only tests need it, and they download it";
    return { name, ok: false, needed: false, summary, details: attempts.map(attemptLine) };
  }
}

const attemptLine = ({ source, what, reason }: Attempt): string => `${source}: ${what}: ${reason}`;

function failed(name: string, needed: boolean, error: unknown): Check {
  const [summary = "", ...details] = messageOf(error).split("\n");
  return { name, ok: false, needed, summary, details: details.map((line) => line.trim()) };
}

async function accountName(): Promise<string | null> {
  try {
    return (await unprivilegedAccount())?.name ?? null;
  } catch {
    // Starting Postgres failed for the same reason, and that check says it.
    return null;
  }
}

function withoutPassword(value: string): string {
  return value.replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/, "$1@");
}
