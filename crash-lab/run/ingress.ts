/**
 * In front of processes that serve callers: one address for each, which stays while the process behind it changes, as
 * a load balancer's does. A request that comes while nobody serves ends as a broken connection.
 */
import type { Ingress as IngressDefinition } from "../lab-definition.js";
import { openHttpTap } from "../taps/http/http-tap.js";
import type { Tap } from "../taps/tap.js";
import type { LabController } from "./controller.js";
import type { Instance } from "./instance.js";

/** The name of these taps in windows and evidence. */
export const ingressTapName = "ingress";

/** Where nothing listens: a connection to it is refused at once. */
const nobody = "http://127.0.0.1:1";

export class IngressTaps {
  readonly #taps = new Map<string, Tap>();
  readonly #serving = new Map<string, number>();

  private constructor() {}

  /** @param serves the processes that serve callers, by name */
  static async open(
    serves: Readonly<Record<string, IngressDefinition>>,
    controller: LabController,
  ): Promise<IngressTaps> {
    const taps = new IngressTaps();
    for (const [process, { routes }] of Object.entries(serves)) {
      const record = {
        id: `${process}/${ingressTapName}`,
        state: "active" as const,
        backendPids: new Set<number>(),
      };
      const upstream = (): string => {
        const port = taps.#serving.get(process);
        return port === undefined ? nobody : `http://127.0.0.1:${port}`;
      };
      const name = ingressTapName;
      taps.#taps.set(
        process,
        await openHttpTap({ process, name, routes, upstream, controller: controller.forInstance(record) }),
      );
    }
    return taps;
  }

  /** From now on callers are served by this one; by nobody when it serves none. */
  serve(instance: Pick<Instance, "name" | "servesPort">): void {
    if (instance.servesPort !== undefined) this.#serving.set(instance.name, instance.servesPort);
  }

  /** Base URLs for callers, by process. */
  urls(): Record<string, string> {
    return Object.fromEntries(
      [...this.#taps].map(([process, { port }]) => [process, `http://127.0.0.1:${port}`] as const),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#taps.values()].map((tap) => tap.close()));
  }
}
