/**
 * Finds or fetches a Temporal server without Docker: for the `globalSetup` of any test runner.
 *
 * ```ts
 * const server = await resolveTemporalServer("devServer", { notice: console.error });
 * ```
 */
export { resolveTemporalServer, type ResolvedServer, type ResolveOptions } from "./resolve.js";
export { InvalidServerSetting, NoTemporalServer, type Attempt, type SourceName } from "./errors.js";
export { serverKinds, type ServerDescription, type ServerKind } from "./kinds.js";
export { addressFrom, cacheFolderFrom, orderedSources, sourcesFrom } from "./settings.js";
