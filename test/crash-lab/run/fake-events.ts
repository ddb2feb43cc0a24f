import type { BoundaryEvent, Side } from "../../../crash-lab/taps/event.js";

let exchanges = 0;

/** A boundary event as a tap would report it, with what a test doesn't care about filled in. */
export function eventOf(change: Partial<BoundaryEvent> & { label: string; side: Side }): BoundaryEvent {
  return {
    process: "worker",
    tap: "accounting",
    exchange: (exchanges += 1),
    sequence: exchanges,
    at: 0,
    attribution: "run",
    runTokens: [],
    access: "write",
    noWindow: null,
    key: null,
    digest: null,
    status: null,
    details: {
      kind: "http",
      connection: { generation: 1, clientPort: 50_000 },
      method: "POST",
      route: "/postings",
      path: "/postings",
      duplicateStatus: null,
    },
    ...change,
  };
}
