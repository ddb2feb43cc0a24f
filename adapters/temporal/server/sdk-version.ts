import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The version of the Temporal SDK that is installed with this package. */
export function sdkVersion(): string {
  return (require("@temporalio/worker/package.json") as { version: string }).version;
}

/** The SDK's worker package, for a process that can't resolve it by itself. */
export const workerPackagePath = (): string => require.resolve("@temporalio/worker");
