import type { Run } from "../../platform/run.js";
import type { CrashLabDefinition, TappedPeers } from "../lab-definition.js";
import { openHttpTap } from "../taps/http/http-tap.js";
import { openPostgresTap } from "../taps/postgres/postgres-tap.js";
import type { Address, Tap, TapOptions } from "../taps/tap.js";
import { openTemporalTap } from "../taps/temporal/temporal-tap.js";
import { newRunToken } from "../taps/tokens.js";
import { LabController } from "./controller.js";
import { findEnding } from "./ending.js";
import { Instance } from "./instance.js";
import { LabFault } from "./lab-fault.js";
import { Replayer } from "./replay.js";
import type { RoundLab } from "./round.js";
import { Slots } from "./slots.js";

/** The share of the workflow task time-out for which messages are held at most; past it the server tries again. */
const holdShare = 0.6;

/** A lab whose environment and processes run. */
export interface OpenLab<Environment> extends RoundLab {
  readonly environment: Environment;
  readonly controller: LabController;
  readonly slots: Slots;
  close(): Promise<void>;
}

/**
 * Starts the environment, the processes under test behind taps of their own, and a standby for each.
 *
 * @throws LabFault, or what the definition's own code throws
 */
export async function openLab<Environment>(
  definition: CrashLabDefinition<Environment>,
  run: Run,
): Promise<OpenLab<Environment>> {
  const environment = await definition.environment(run);
  const controller = new LabController();
  const slots = new Slots(
    Object.keys(definition.processes),
    starter(definition, environment, controller, run),
  );
  run.onClose("processes under test", () => slots.close());
  await slots.open();
  const replayer = await openReplayer(definition, environment);
  if (replayer) run.onClose("replayer", () => replayer.close());

  return {
    environment,
    controller,
    slots,
    holdMsMax: definition.profile.workflowTaskTimeoutMs * holdShare,
    newToken: newRunToken,
    add: (held) => controller.add(held),
    retire: (held) => controller.retire(held),
    start: (held) => definition.stories[held.story]!.start(environment, held.token),
    closed: async (held, signal) => {
      await definition.stories[held.story]!.ended(environment, held.token, signal);
    },
    ending: (held) => findEnding(definition, environment, held, replayer),
    active: (name) => slots.active(name),
    replace: (name) => slots.replace(name),
    close: async () => {
      await slots.close();
      await replayer?.close();
    },
  };
}

async function openReplayer<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
): Promise<Replayer | undefined> {
  const { temporal } = definition.peers(environment);
  const bundle = await definition.replayBundle?.(environment);
  return temporal && bundle ? Replayer.open(temporal, bundle) : undefined;
}

/** Starts instances, each with listeners of its own in every tap, so that every connection is known to be its. */
function starter<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
  controller: LabController,
  run: Run,
) {
  const started = new Map<string, number>();
  return async (name: string, { standby }: { readonly standby: boolean }): Promise<Instance> => {
    const number = (started.get(name) ?? 0) + 1;
    started.set(name, number);
    const id = `${name}#${number}`;
    const { taps, tapped } = await openTaps(definition, environment, {
      process: name,
      controller: controller.forInstance(id),
      standby,
    });
    const spec = definition.processes[name]!(environment, tapped);
    try {
      const process = await run.spawn({ ...spec, name: `${name}-${number}` });
      return new Instance(name, id, process, taps);
    } catch (error) {
      await Promise.all(taps.map((tap) => tap.close()));
      throw new LabFault(
        `process ${name} could not be started: ${error instanceof Error ? error.message : error}`,
      );
    }
  };
}

async function openTaps<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
  options: TapOptions,
): Promise<{ taps: Tap[]; tapped: TappedPeers }> {
  const peers = definition.peers(environment);
  const taps: Tap[] = [];
  const opened = async (opening: Promise<Tap>): Promise<string> => {
    const tap = await opening;
    taps.push(tap);
    return `127.0.0.1:${tap.port}`;
  };
  const temporal = peers.temporal && {
    address: await opened(openTemporalTap({ ...options, upstream: addressOf(peers.temporal.address) })),
    namespace: peers.temporal.namespace,
  };
  const postgres: Record<string, string> = {};
  for (const [name, url] of Object.entries(peers.postgres ?? {})) {
    const address = addressOf(new URL(url).host, postgresPort);
    postgres[name] = withHost(url, await opened(openPostgresTap({ ...options, name, upstream: address })));
  }
  const http: Record<string, string> = {};
  for (const [name, { url, routes }] of Object.entries(peers.http ?? {}))
    http[name] = withHost(url, await opened(openHttpTap({ ...options, name, upstream: url, routes })));
  return { taps, tapped: { temporal: temporal ?? { address: "", namespace: "" }, postgres, http } };
}

/** Of a connection URL that names none. */
const postgresPort = 5432;

function addressOf(hostAndPort: string, defaultPort?: number): Address {
  const match = /^(.+?)(?::(\d+))?$/.exec(hostAndPort);
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  if (!match || port === undefined) throw new LabFault(`"${hostAndPort}" is no address; it takes host:port`);
  return { host: match[1]!.replace(/^\[|\]$/g, ""), port };
}

/** The same URL at another host and port. */
function withHost(url: string, host: string): string {
  const changed = new URL(url);
  changed.host = host;
  return changed.href.replace(/\/$/, url.endsWith("/") ? "/" : "");
}
