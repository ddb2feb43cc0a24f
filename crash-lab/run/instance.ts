import { listenerOn, socketsOf, type ProcessSocket } from "../peers/sockets.js";
import type { ManagedProcess } from "../../platform/managed-process.js";
import { processTable } from "../../platform/process-table.js";
import { withDescendants } from "../../platform/process-tree.js";
import type { Tap } from "../taps/tap.js";
import type { Backends } from "./backends.js";
import type { InstanceRecord } from "./controller.js";
import type { SeenEvent } from "./held-run.js";
import { ingressTapName } from "./ingress.js";

/** How long a killed process may take to be reaped and its connections to break; both take milliseconds. */
const deathMsMax = 10_000;

/** How the kill of one held message's process went. */
export interface Death {
  readonly pid: number;
  /** The signal by which it was reaped, as the operating system reported it. */
  readonly signal: NodeJS.Signals | null;
  /** Its connections through the taps broke, and the database ended what had served it. */
  readonly connectionsBroken: boolean;
}

/**
 * One started process under test with the taps of its own.
 *
 * States: *standby* (everything is loaded, its polls wait in the taps), *active*, *dead*. Only an active instance
 * takes work, only a dead one may be followed by another with its name.
 */
export class Instance {
  constructor(
    readonly name: string,
    readonly record: InstanceRecord,
    readonly process: ManagedProcess,
    readonly taps: readonly Tap[],
    private readonly backends: Backends,
    /** Where it serves callers, when it does. */
    readonly servesPort?: number,
  ) {}

  activate(): void {
    this.record.state = "active";
    for (const tap of this.taps) tap.activate();
  }

  /** The process that was started and everything it started. */
  pids(): number[] {
    const table = processTable();
    const roots = table.filter(({ pid }) => pid === this.process.pid);
    return withDescendants(roots, table).map(({ pid }) => pid);
  }

  /** Connections that lead neither to a tap nor from one of our callers to where it serves them. */
  async untappedPeers(): Promise<ProcessSocket[]> {
    const tapPorts = new Set(this.taps.map(({ port }) => port));
    return (await socketsOf(this.pids())).filter(
      (socket) => !tapPorts.has(socket.remotePort) && socket.localPort !== this.servesPort,
    );
  }

  /**
   * Kills the process that owns the connections of the held messages, and proves it: reaped with signal 9, all its
   * connections through the taps broken, and the peers' side torn down so that nothing of it lives on.
   *
   * @returns how it went for each held message, in their order. One whose connection another process owned, or
   * nobody, has no signal: then this kill was not its kill.
   */
  async die(held: readonly SeenEvent[]): Promise<Death[]> {
    const pids = this.pids();
    const sockets = await socketsOf(pids);
    // At the ingress the connection is the caller's, and may not have been passed on; there it is whoever listens.
    const listener = this.servesPort === undefined ? undefined : await listenerOn(this.servesPort, pids);
    const ownerOf = ({ event }: SeenEvent): number | undefined =>
      event.tap === ingressTapName
        ? listener
        : sockets.find(({ localPort }) => localPort === event.details.connection.clientPort)?.pid;
    const owners = new Set(held.map(ownerOf).filter((pid) => pid !== undefined));
    for (const pid of owners) process.kill(pid, "SIGKILL");
    if (owners.size === 0) void this.process.kill("SIGKILL");
    const exit = await within(deathMsMax, this.process.exited, undefined);
    this.#breakUpstream();
    // Of a process that lives on nothing breaks, so there is nothing to wait for.
    const broken = exit !== undefined && (await this.#connectionsBroke());
    this.record.state = "dead";
    return held.map((seen) => {
      const pid = ownerOf(seen) ?? this.process.pid;
      // A wrapper's end says nothing about how its child ended, so only the started process itself counts as reaped.
      const signal = ownerOf(seen) === this.process.pid ? (exit?.signal ?? null) : null;
      return { pid, signal, connectionsBroken: broken };
    });
  }

  async #connectionsBroke(): Promise<boolean> {
    const disconnected = Promise.all(this.taps.map((tap) => tap.whenDisconnected())).then(() => true);
    if (!(await within(deathMsMax, disconnected, false))) return false;
    // A statement that had been passed on may still be working; what it commits must not come after the next reads.
    return within(deathMsMax, this.backends.gone([...this.record.backendPids]), false);
  }

  async stop(): Promise<void> {
    await this.process.stop();
    this.#breakUpstream();
    await this.close();
  }

  /** Ends it at once, when nothing is under way in it. */
  async discard(): Promise<void> {
    await this.process.kill("SIGKILL");
    this.#breakUpstream();
    this.record.state = "dead";
    await this.close();
  }

  /** Closes the taps of a dead or stopped process. */
  async close(): Promise<void> {
    await Promise.all(this.taps.map((tap) => tap.close()));
  }

  #breakUpstream(): void {
    for (const tap of this.taps) tap.destroyUpstream();
  }
}

/** A watchdog, not a wait: what it guards ends at an event, and the time only bounds a fault of the lab. */
async function within<T, U>(ms: number, promise: Promise<T>, otherwise: U): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<U>((resolve) => (timer = setTimeout(() => resolve(otherwise), ms)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
