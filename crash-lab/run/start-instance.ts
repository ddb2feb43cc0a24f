import { messageOf } from "../../platform/errors.js";
import type { Run } from "../../platform/run.js";
import type { CrashLabDefinition, LabProfile } from "../lab-definition.js";
import type { Backends } from "./backends.js";
import type { InstanceRecord, LabController } from "./controller.js";
import { Instance } from "./instance.js";
import { LabFault } from "./lab-fault.js";
import type { StartInstance } from "./slots.js";
import { openTaps } from "./tapped-peers.js";

interface Surroundings<Environment> {
  readonly environment: Environment;
  readonly controller: LabController;
  readonly backends: Backends;
  readonly run: Run;
  readonly profile: LabProfile;
}

/** @returns what starts a process under test behind taps of its own; it throws LabFault when that isn't ready */
export function instanceStarter<Environment>(
  definition: CrashLabDefinition<Environment>,
  { environment, controller, backends, run, profile }: Surroundings<Environment>,
): StartInstance {
  const started = new Map<string, number>();
  return async (name, { standby, settings }) => {
    const number = (started.get(name) ?? 0) + 1;
    started.set(name, number);
    const record: InstanceRecord = {
      id: `${name}#${number}`,
      state: standby ? "standby" : "active",
      backendPids: new Set(),
    };
    const { taps, tapped } = await openTaps(definition.peers(environment), {
      process: name,
      controller: controller.forInstance(record),
      standby,
      ...(definition.service ? { service: definition.service } : {}),
    });
    const spec = definition.processes[name]!(environment, tapped, { settings, profile });
    try {
      const process = await run.spawn({ ...spec, name: `${name}-${number}` });
      const servesPort = definition.ingress?.[name]?.port(process.ready);
      return new Instance(name, record, process, taps, backends, servesPort);
    } catch (error) {
      await Promise.all(taps.map((tap) => tap.close()));
      throw new LabFault(`process ${name} could not be started: ${messageOf(error)}`);
    }
  };
}
