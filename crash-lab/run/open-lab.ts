import type { Run } from "../../platform/run.js";
import type { CrashLabDefinition, LabProfile, Story } from "../lab-definition.js";
import { newRunToken } from "../taps/tokens.js";
import type { ProcessSocket } from "../peers/sockets.js";
import { Actors } from "./actors.js";
import { Backends } from "./backends.js";
import { LabController } from "./controller.js";
import { endingOf, factsOf, type Observers } from "./ending.js";
import type { GoldenLab } from "./golden.js";
import { Histories } from "./histories.js";
import { IngressTaps } from "./ingress.js";
import type { Instance } from "./instance.js";
import { PhaseTimes } from "./phases.js";
import { Replayer } from "./replay.js";
import { Slots, type Cast } from "./slots.js";
import { instanceStarter } from "./start-instance.js";
import { storyHolds } from "./story-holds.js";

/** The share of the workflow task time-out for which messages are held at most; past it the server tries again. */
const holdShare = 0.6;

/** A connection of a process under test that leads to none of its taps. */
export interface UntappedPeer extends ProcessSocket {
  readonly process: string;
}

/** A lane whose environment and processes run. */
export interface OpenLab<Environment> extends GoldenLab {
  readonly definition: CrashLabDefinition<Environment>;
  readonly profile: LabProfile;
  readonly environment: Environment;
  readonly controller: LabController;
  readonly slots: Slots;
  /** Has the processes run as the story wants them. To be called before its runs, when no other run is under way. */
  prepare(story: string): Promise<void>;
  /** What `inspectPeers` has found so far. */
  readonly untapped: readonly UntappedPeer[];
  /**
   * Opens a further lane beside this one, with processes of its own.
   *
   * @param number from 2
   * @returns undefined when the definition has one lane only
   */
  lane(number: number): Promise<OpenLab<Environment> | undefined>;
}

/**
 * Starts the environment, the processes under test behind taps of their own, and a standby for each. All of it ends
 * with the run.
 *
 * @param profile whose time-outs the runs have; the definition's own by default
 * @throws LabFault, or what the definition's own code throws
 */
export async function openLab<Environment>(
  definition: CrashLabDefinition<Environment>,
  run: Run,
  profile: LabProfile = definition.profile,
): Promise<OpenLab<Environment>> {
  const environment = await definition.environment(run);
  const { temporal } = definition.peers(environment);
  const histories = temporal && (await Histories.open(temporal));
  if (histories) run.onClose("connection for histories", () => histories.close());
  const bundle = histories && (await definition.replayBundle?.(environment));
  const replayer = bundle && (await Replayer.open(bundle));
  if (replayer) run.onClose("replayer", () => replayer.close());
  return openLane({ definition, profile, run, first: environment, histories, replayer }, environment);
}

/** What all lanes share. */
interface Shared<Environment> extends Observers {
  readonly definition: CrashLabDefinition<Environment>;
  readonly profile: LabProfile;
  readonly run: Run;
  /** The first lane's environment, which owns the servers. */
  readonly first: Environment;
}

async function openLane<Environment>(
  shared: Shared<Environment>,
  environment: Environment,
): Promise<OpenLab<Environment>> {
  const { definition, profile, run, histories } = shared;
  const controller = new LabController(storyHolds(definition, environment, run.closing));
  const untapped: UntappedPeer[] = [];
  const backends = await Backends.open(Object.values(definition.peers(environment).postgres ?? {}));
  run.onClose("connections to the databases", () => backends.close());
  const ingress = await IngressTaps.open(definition.ingress ?? {}, controller);
  run.onClose("taps in front of the processes", () => ingress.close());
  const start = instanceStarter(definition, { environment, controller, backends, run, profile });
  const serve = (instance: Instance): void => ingress.serve(instance);
  const slots = new Slots(start, serve);
  run.onClose("processes under test", () => slots.close());
  const castOf = ({ settings, processes, victims }: Story<Environment>): Cast => ({
    settings,
    names: processes ?? Object.keys(definition.processes),
    victims,
  });
  await slots.use(castOf(Object.values(definition.stories)[0]!));
  const actors = new Actors(definition, environment, { ingress: ingress.urls(), profile });

  return {
    definition,
    profile,
    environment,
    controller,
    slots,
    untapped,
    phases: new PhaseTimes(),
    holdMsMax: profile.workflowTaskTimeoutMs * holdShare,
    newToken: newRunToken,
    add: (held) => controller.add(held),
    retire: (held) => controller.retire(held),
    travelMsMax: profile.deadlineMs,
    prepare: (story) => slots.use(castOf(definition.stories[story]!)),
    start: (held) => actors.start(held),
    closed: async (held, signal) => {
      const either = AbortSignal.any([signal, run.closing]);
      await definition.stories[held.story]!.ended(environment, held.token, either);
    },
    ending: (held) => endingOf(definition, { environment, actors, profile }, held, run.closing),
    facts: (held, ending) => factsOf(definition, environment, held, ending, shared),
    active: (name) => slots.active(name),
    replace: (name) => slots.replace(name),
    ...(profile.obituary && histories ? { reportDead: (tasks) => histories.reportDead(tasks) } : {}),
    inspectPeers: async () => {
      for (const instance of slots.all())
        for (const peer of await instance.untappedPeers()) untapped.push({ ...peer, process: instance.name });
    },
    lane: async (number) => {
      const beside = await definition.lane?.(shared.first, run, number);
      return beside === undefined ? undefined : openLane(shared, beside);
    },
  };
}
