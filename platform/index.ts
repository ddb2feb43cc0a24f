/** Runs, the processes in them, and the servers a run brings along. */
export { messageOf, UserFacingError } from "./errors.js";
export { packageRoot } from "./package-root.js";
export { checkServerSettings } from "./check-settings.js";
export { requireEmptyFolder } from "./folders.js";
export { freePort, requirePort } from "./ports.js";
export { openRun, type Run, type RunOptions } from "./run.js";
export { type Exit, type ManagedProcess, type ProcessSpec } from "./managed-process.js";
export { startPostgres, type PostgresInstance, type PostgresOptions } from "./postgres/embedded.js";
export { startTemporal, type TemporalOptions, type TemporalServer } from "./temporal.js";
export { searchAttributes } from "./temporal-api.js";
export { inspectServer, startDatabase, type Database } from "./database.js";
export { unprivilegedAccount, type Account } from "./postgres/account.js";
