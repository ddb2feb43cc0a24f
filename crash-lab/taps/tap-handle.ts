import type { ConnectionBook } from "./connections.js";
import type { Observer } from "./observer.js";
import type { StandbyGate } from "./standby.js";
import type { Tap } from "./tap.js";

export interface TapParts extends Pick<Tap, "port" | "destroyUpstream" | "close"> {
  readonly observer: Observer;
  readonly book: ConnectionBook;
  readonly standby: StandbyGate;
}

/** The part of a tap that is the same for every protocol; breaking and closing connections is the protocol's own. */
export function tapHandle({ port, observer, book, standby, destroyUpstream, close }: TapParts): Tap {
  return {
    process: observer.process,
    name: observer.tap,
    port,
    get active() {
      return standby.active;
    },
    activate: () => standby.activate(),
    connections: () => book.counts(),
    whenDisconnected: () => book.whenNoneOpen(),
    whenConnected: (generation) => book.whenOpened(generation),
    destroyUpstream,
    serviceCounts: () => observer.serviceCounts(),
    close,
  };
}
