import { createHash } from "node:crypto";

import { sql } from "kysely";

import { openLedger, type Ledger, type LedgerOptions } from "./database.js";
import { explainConnectionFailure, LedgerSchemaMismatch, LedgerTooOld } from "./ledger-errors.js";
import { migrations as allMigrations, type Migration } from "./migrations/index.js";
import { meaningOf } from "./retryable.js";

/** Postgres 15: the first with `client_connection_check_interval` on every system it runs on. */
const oldestServerVersion = 150_000;

/**
 * Longest wait for a rival that migrates at the same time, in milliseconds. Its steps are short; a minute is
 * for a slow machine that starts twenty processes at once. Too short would fail a process that only had to wait.
 */
const rivalWaitMs = 60_000;

export interface MigrateOptions extends Pick<LedgerOptions, "url"> {
  /** Default: every step of this version. */
  readonly migrations?: readonly Migration[];
}

export interface MigrateResult {
  /** Names of the steps that this call took; empty when there was nothing to do or a rival did it. */
  readonly applied: readonly string[];
}

/**
 * Brings the schema of a ledger to this version. Safe to call from any number of processes at once and again
 * after any crash: each step is one transaction that first inserts its version row, so that rivals wait for each
 * other at that row, and a step that fails or is killed leaves nothing.
 *
 * ```sql
 * begin;
 * insert into ledger_migrations (number, name, breaking, digest) values ($1, $2, $3, $4)
 *   on conflict (number) do nothing returning number;   -- no row: a rival took the step
 * …the step…
 * commit;
 * ```
 *
 * @throws `LedgerUnavailable` when the database can't be reached, `LedgerTooOld` for a server before Postgres 15,
 *   `LedgerSchemaMismatch` when the schema has a newer breaking step or an applied step was edited.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const steps = options.migrations ?? allMigrations;
  checkNumbers(steps);
  const ledger = openLedger({
    url: options.url,
    applicationName: "killproof-migrate",
    poolSize: 1,
    timeouts: { lockMs: rivalWaitMs, idleInTransactionMs: rivalWaitMs, statementMs: rivalWaitMs * 5 },
  });
  try {
    await checkServer(ledger, options.url);
    await ensureVersionTable(ledger);
    const applied: string[] = [];
    for (const step of steps) {
      const number = numberOf(step);
      const before = await appliedSteps(ledger);
      refuseMismatch(before, steps);
      if (!before.some((row) => row.number === number) && (await take(ledger, number, step))) {
        applied.push(step.name);
      }
    }
    refuseMismatch(await appliedSteps(ledger), steps);
    return { applied };
  } finally {
    await ledger.destroy();
  }
}

/**
 * What a process calls at its start, before it works on a ledger that somebody else migrates.
 *
 * @throws as `migrate`, and `LedgerSchemaMismatch` when steps are missing.
 */
export async function checkSchema(ledger: Ledger, url: string): Promise<void> {
  await checkServer(ledger, url);
  const { exists } = await ledger
    .selectNoFrom(sql<boolean>`to_regclass('ledger_migrations') is not null`.as("exists"))
    .executeTakeFirstOrThrow();
  const applied = exists ? await appliedSteps(ledger) : [];
  refuseMismatch(applied, allMigrations);
  const missing = allMigrations.filter((step) => !applied.some((row) => row.number === numberOf(step)));
  if (missing.length > 0) {
    throw new LedgerSchemaMismatch(
      `The ledger's schema lacks ${missing.map((step) => step.name).join(", ")}. ` +
        "Run the migration of this version first.",
    );
  }
}

/** The whole step, or nothing. `false`: a rival took it while this call waited at its row. */
async function take(ledger: Ledger, number: number, step: Migration): Promise<boolean> {
  return ledger.transaction().execute(async (transaction) => {
    const row = await transaction
      .insertInto("ledger_migrations")
      .values({ number, name: step.name, breaking: step.breaking, digest: digestOf(step) })
      // No column named: a rival's row collides in number and in name, and either index may be the first to say so.
      .onConflict((conflict) => conflict.doNothing())
      .returning("number")
      .executeTakeFirst();
    if (row === undefined) {
      return false;
    }
    await sql.raw(step.sql).execute(transaction);
    return true;
  });
}

/** Tries for the version table. Two rivals may collide in the catalogue once each; the third try finds the table. */
const versionTableTriesMax = 5;

async function ensureVersionTable(ledger: Ledger): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sql`
        create table if not exists ledger_migrations (
          number integer primary key,
          name text not null unique,
          breaking boolean not null,
          digest text not null,
          applied_at timestamptz not null default clock_timestamp()
        )`.execute(ledger);
      return;
    } catch (error) {
      // "if not exists" looks before it creates: of two at once the later one may meet the other's catalogue row.
      const lostTheRace = ["23505", "42P07", "42710"].includes((error as { code?: string }).code ?? "");
      if (!lostTheRace || attempt === versionTableTriesMax) {
        throw error;
      }
    }
  }
}

async function checkServer(ledger: Ledger, url: string): Promise<void> {
  const version = await sql<{ version: string }>`select current_setting('server_version_num') as version`
    .execute(ledger)
    .catch((error: unknown) => {
      throw explainConnectionFailure(error, url, meaningOf(error)?.meaning);
    });
  const found = Number(version.rows[0]?.version);
  if (!(found >= oldestServerVersion)) {
    throw new LedgerTooOld(
      `The ledger's server is Postgres ${Math.floor(found / 10_000)} (version number ${found}); ` +
        "Killproof needs Postgres 15 or newer.",
    );
  }
}

interface AppliedStep {
  readonly number: number;
  readonly name: string;
  readonly breaking: boolean;
  readonly digest: string;
}

async function appliedSteps(ledger: Ledger): Promise<readonly AppliedStep[]> {
  return ledger
    .selectFrom("ledger_migrations")
    .select(["number", "name", "breaking", "digest"])
    .orderBy("number")
    .execute();
}

function refuseMismatch(applied: readonly AppliedStep[], steps: readonly Migration[]): void {
  for (const row of applied) {
    const step = steps.find((each) => numberOf(each) === row.number);
    if (step === undefined) {
      if (row.breaking) {
        throw new LedgerSchemaMismatch(
          `The ledger's schema has the step ${row.name}, which is newer than this version and which this version ` +
            "can't work with. Start a newer version.",
        );
      }
    } else if (row.name !== step.name || row.digest !== digestOf(step)) {
      throw new LedgerSchemaMismatch(
        `The ledger took step ${row.number} as "${row.name}" (digest ${row.digest}), but here it is ` +
          `"${step.name}" (digest ${digestOf(step)}). An applied step must never be edited; add a new one.`,
      );
    }
  }
}

function checkNumbers(steps: readonly Migration[]): void {
  for (const [place, step] of steps.entries()) {
    const before = steps[place - 1];
    if (before !== undefined && numberOf(step) <= numberOf(before)) {
      throw new LedgerSchemaMismatch(
        `The migration "${step.name}" stands after "${before.name}"; the numbers must rise in the list.`,
      );
    }
  }
}

function numberOf(step: Migration): number {
  return Number.parseInt(step.name, 10);
}

function digestOf(step: Migration): string {
  return createHash("sha256").update(step.sql).digest("hex");
}
