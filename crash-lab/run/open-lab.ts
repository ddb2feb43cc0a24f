import { messageOf } from "../../platform/errors.js";
import type { Run } from "../../platform/run.js";
import type { CrashLabDefinition, TappedPeers } from "../lab-definition.js";
import { openHttpTap } from "../taps/http/http-tap.js";
import { openPostgresTap } from "../taps/postgres/postgres-tap.js";
import type { Address, Tap, TapOptions } from "../taps/tap.js";
import { openTemporalTap } from "../taps/temporal/temporal-tap.js";
import { newRunToken } from "../taps/tokens.js";
import type { ProcessSocket } from "../peers/sockets.js";
import { Actors } from "./actors.js";
import { Backends } from "./backends.js";
import { LabController, type InstanceRecord } from "./controller.js";
import { endingOf, factsOf } from "./ending.js";
import type { GoldenLab } from "./golden.js";
import { Histories } from "./histories.js";
import { IngressTaps } from "./ingress.js";
import { Instance } from "./instance.js";
import { LabFault } from "./lab-fault.js";
import { PhaseTimes } from "./phases.js";
import { Replayer } from "./replay.js";
import { Slots, type StartOptions } from "./slots.js";
import { storyHolds } from "./story-holds.js";

/** The share of the workflow task time-out for which messages are held at most; past it the server tries again. */
const holdShare = 0.6;

/** A connection of a process under test that leads to none of its taps. */
export interface UntappedPeer extends ProcessSocket {
  readonly process: string;
}

/** A lab whose environment and processes run. */
export interface OpenLab<Environment> extends GoldenLab {
  readonly definition: CrashLabDefinition<Environment>;
  readonly environment: Environment;
  readonly controller: LabController;
  readonly slots: Slots;
  /** Has the processes run as the story wants them. To be called before its runs, when no other run is under way. */
  prepare(story: string): Promise<void>;
  /** What `inspectPeers` has found so far. */
  readonly untapped: readonly UntappedPeer[];
}

/**
 * Starts the environment, the processes under test behind taps of their own, and a standby for each. All of it ends
 * with the run.
 *
 * @throws LabFault, or what the definition's own code throws
 */
export async function openLab<Environment>(
  definition: CrashLabDefinition<Environment>,
  run: Run,
): Promise<OpenLab<Environment>> {
  const environment = await definition.environment(run);
  const peers = definition.peers(environment);
  const controller = new LabController(storyHolds(definition, environment, run.closing));
  const untapped: UntappedPeer[] = [];
  const backends = await Backends.open(Object.values(peers.postgres ?? {}));
  run.onClose("connections to the databases", () => backends.close());
  const histories = peers.temporal && (await Histories.open(peers.temporal));
  if (histories) run.onClose("connection for histories", () => histories.close());
  const bundle = histories && (await definition.replayBundle?.(environment));
  const replayer = bundle && (await Replayer.open(bundle));
  if (replayer) run.onClose("replayer", () => replayer.close());
  const ingress = await IngressTaps.open(definition.ingress ?? {}, controller);
  run.onClose("taps in front of the processes", () => ingress.close());
  const start = starter(definition, { environment, controller, backends, run });
  const serve = (instance: Instance): void => ingress.serve(instance);
  const slots = new Slots(Object.keys(definition.processes), start, serve);
  run.onClose("processes under test", () => slots.close());
  await slots.open();
  const actors = new Actors(definition, environment, { ingress: ingress.urls() });

  return {
    definition,
    environment,
    controller,
    slots,
    untapped,
    phases: new PhaseTimes(),
    holdMsMax: definition.profile.workflowTaskTimeoutMs * holdShare,
    newToken: newRunToken,
    add: (held) => controller.add(held),
    retire: (held) => controller.retire(held),
    travelMsMax: definition.profile.deadlineMs,
    prepare: (story) => slots.use(definition.stories[story]!.settings),
    start: (held) => actors.start(held),
    closed: async (held, signal) => {
      const either = AbortSignal.any([signal, run.closing]);
      await definition.stories[held.story]!.ended(environment, held.token, either);
    },
    ending: (held) => endingOf(definition, { environment, actors }, held, run.closing),
    facts: (held, ending) => factsOf(definition, environment, held, ending, { histories, replayer }),
    active: (name) => slots.active(name),
    replace: (name) => slots.replace(name),
    inspectPeers: async () => {
      for (const instance of slots.all())
        for (const peer of await instance.untappedPeers()) untapped.push({ ...peer, process: instance.name });
    },
  };
}

interface Surroundings<Environment> {
  readonly environment: Environment;
  readonly controller: LabController;
  readonly backends: Backends;
  readonly run: Run;
}

/** Starts instances, each with listeners of its own in every tap, so that every connection is known to be its. */
function starter<Environment>(
  definition: CrashLabDefinition<Environment>,
  { environment, controller, backends, run }: Surroundings<Environment>,
) {
  const started = new Map<string, number>();
  return async (name: string, { standby, settings }: StartOptions): Promise<Instance> => {
    const number = (started.get(name) ?? 0) + 1;
    started.set(name, number);
    const record: InstanceRecord = {
      id: `${name}#${number}`,
      state: standby ? "standby" : "active",
      backendPids: new Set(),
    };
    const { taps, tapped } = await openTaps(definition, environment, {
      process: name,
      controller: controller.forInstance(record),
      standby,
      ...(definition.service ? { service: definition.service } : {}),
    });
    const spec = definition.processes[name]!(environment, tapped, settings);
    try {
      const process = await run.spawn({ ...spec, name: `${name}-${number}` });
      return new Instance(
        name,
        record,
        process,
        taps,
        backends,
        definition.ingress?.[name]?.port(process.ready),
      );
    } catch (error) {
      await Promise.all(taps.map((tap) => tap.close()));
      throw new LabFault(`process ${name} could not be started: ${messageOf(error)}`);
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
