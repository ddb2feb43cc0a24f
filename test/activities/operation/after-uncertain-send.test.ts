import { describe, expect, test } from "vitest";

import {
  afterUncertainSend,
  askAgainMs,
  type EarlierSender,
  type UncertainSend,
} from "../../../activities/operation/after-uncertain-send.js";
import type { ProviderPolicy } from "../../../activities/operation/provider.js";

const settleMs = 1_000;
const parkAfterMs = 100_000;
const keysLiveForMs = 10_000;
const sentAt = 50_000;

type Keys = "for ever" | "for 10 s" | "none";

const policy = (keys: Keys, canFind: boolean): ProviderPolicy => ({
  honoursKeys: keys !== "none",
  keysLiveForMs: keys === "for 10 s" ? keysLiveForMs : null,
  canFind,
  settleMs,
  parkAfterMs,
});

const elsewhere: EarlierSender = { where: "elsewhere" };
const open: EarlierSender = { where: "here", call: "open" };
const settled = (settledAgoMs: number): EarlierSender => ({ where: "here", call: "settled", settledAgoMs });

interface Cell {
  readonly keys: Keys;
  readonly canFind: boolean;
  readonly agoMs: number;
  readonly sender?: EarlierSender;
  readonly found?: "absent" | "unknown";
  readonly firstAgoMs?: number;
  readonly openForMs?: number;
  readonly decision: string;
}

const cells: readonly Cell[] = [
  // Keys, alive: the same key again, whoever sent and whatever else the provider can.
  { keys: "for ever", canFind: true, agoMs: 0, decision: "resubmit" },
  { keys: "for ever", canFind: false, agoMs: 90_000, decision: "resubmit" },
  { keys: "for 10 s", canFind: true, agoMs: 4_999, decision: "resubmit" },
  { keys: "for 10 s", canFind: false, agoMs: 4_999, decision: "resubmit" },
  // Half of the promised life is where it stops being believed, counted from the first send and not from the last.
  { keys: "for 10 s", canFind: false, agoMs: 5_000, decision: "park: cannot-be-asked" },
  { keys: "for 10 s", canFind: true, agoMs: 0, firstAgoMs: 5_000, decision: "find" },
  // Keys, perhaps expired, can be asked.
  { keys: "for 10 s", canFind: true, agoMs: 5_000, decision: "find" },
  { keys: "for 10 s", canFind: true, agoMs: 5_000, found: "absent", decision: "next-try" },
  { keys: "for 10 s", canFind: true, agoMs: 999, firstAgoMs: 6_000, found: "absent", decision: "wait 1" },
  { keys: "for 10 s", canFind: true, agoMs: 1_000, firstAgoMs: 6_000, found: "absent", decision: "next-try" },
  { keys: "for 10 s", canFind: true, agoMs: 5_000, found: "unknown", decision: `wait ${askAgainMs}` },
  { keys: "for 10 s", canFind: true, agoMs: 5_000, sender: open, found: "absent", decision: "wait 1000" },
  // Keys, perhaps expired, can't be asked.
  { keys: "for 10 s", canFind: false, agoMs: 9_000, decision: "park: cannot-be-asked" },
  // No keys, can be asked: nothing is worth asking before the last send has settled.
  { keys: "none", canFind: true, agoMs: 0, decision: "wait 1000" },
  { keys: "none", canFind: true, agoMs: 999, decision: "wait 1" },
  { keys: "none", canFind: true, agoMs: 1_000, decision: "find" },
  { keys: "none", canFind: true, agoMs: 5_000, sender: open, decision: "wait 1000" },
  { keys: "none", canFind: true, agoMs: 5_000, sender: settled(300), decision: "wait 700" },
  { keys: "none", canFind: true, agoMs: 5_000, sender: settled(1_000), decision: "find" },
  { keys: "none", canFind: true, agoMs: 1_000, found: "unknown", decision: `wait ${askAgainMs}` },
  {
    keys: "none",
    canFind: true,
    agoMs: 1_000,
    found: "absent",
    decision: "park: earlier-sender-not-proved-ended",
  },
  {
    keys: "none",
    canFind: true,
    agoMs: 1_000,
    sender: settled(1_000),
    found: "absent",
    decision: "resubmit",
  },
  { keys: "none", canFind: true, agoMs: 1_000, sender: settled(900), found: "absent", decision: "wait 100" },
  { keys: "none", canFind: true, agoMs: 9_000, sender: open, found: "absent", decision: "wait 1000" },
  // No keys, can't be asked.
  { keys: "none", canFind: false, agoMs: 0, decision: "park: cannot-be-asked" },
  { keys: "none", canFind: false, agoMs: 9_000, sender: settled(9_000), decision: "park: cannot-be-asked" },
  // Waiting has an end; what needs no waiting doesn't.
  { keys: "none", canFind: true, agoMs: 0, openForMs: parkAfterMs, decision: "park: no-outcome-in-time" },
  {
    keys: "none",
    canFind: true,
    agoMs: 2_000,
    openForMs: parkAfterMs,
    found: "unknown",
    decision: "park: no-outcome-in-time",
  },
  { keys: "none", canFind: true, agoMs: 0, openForMs: parkAfterMs - 1, decision: "wait 1000" },
  { keys: "for ever", canFind: false, agoMs: 0, openForMs: parkAfterMs, decision: "resubmit" },
  { keys: "none", canFind: true, agoMs: 2_000, openForMs: parkAfterMs, decision: "find" },
];

function decided(cell: Cell): string {
  const { keys, canFind, agoMs, sender = elsewhere, firstAgoMs = agoMs, openForMs = firstAgoMs } = cell;
  const now = sentAt + Math.max(agoMs, firstAgoMs, openForMs);
  const send: UncertainSend = {
    policy: policy(keys, canFind),
    submittedAt: now - agoMs,
    firstSubmittedAt: now - firstAgoMs,
    uncertainSince: now - openForMs,
    now,
    earlierSender: sender,
    ...(cell.found === undefined ? {} : { found: cell.found }),
  };
  const decision = afterUncertainSend(send);
  switch (decision.next) {
    case "wait":
      return `wait ${decision.ms}`;
    case "park":
      return `park: ${decision.reason}`;
    default:
      return decision.next;
  }
}

describe("after an uncertain send", () => {
  test.each(cells)("$keys, find $canFind, sent $agoMs ms ago, $found → $decision", (cell) => {
    expect(decided(cell)).toBe(cell.decision);
  });

  test("a provider that can neither be asked nor repeats under a key is never sent to again", () => {
    for (const agoMs of [0, 1, settleMs, parkAfterMs, 10 * parkAfterMs]) {
      for (const sender of [elsewhere, open, settled(agoMs)]) {
        expect(decided({ keys: "none", canFind: false, agoMs, sender, decision: "" })).toMatch(/^park/);
      }
    }
  });

  test("a call of our own that is still open is waited for, also where settling takes no time", () => {
    for (const found of [undefined, "absent"] as const) {
      const decision = afterUncertainSend({
        policy: { ...policy("none", true), settleMs: 0 },
        firstSubmittedAt: sentAt,
        submittedAt: sentAt,
        uncertainSince: sentAt,
        now: sentAt + 5_000,
        earlierSender: open,
        ...(found === undefined ? {} : { found }),
      });
      expect(decision).toMatchObject({ next: "wait", ms: askAgainMs });
    }
  });
});
