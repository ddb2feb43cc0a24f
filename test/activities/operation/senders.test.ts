import { expect, test } from "vitest";

import { callBegins, earlierSender } from "../../../activities/operation/senders.js";
import { MemoryJournal } from "../../support/operation/memory-journal.js";
import { VirtualClock } from "../../support/operation/provider-model.js";

const clock = new VirtualClock();
const newJournal = () => new MemoryJournal(clock.now);
const sent = (key: string, epoch: number) => ({ key, submitted: { at: 0, epoch } });

test("a call of this process is open until it has settled, and then settled since", () => {
  const journal = newJournal();
  const settled = callBegins(journal, "k", 1, clock.now);
  expect(earlierSender(journal, sent("k", 1), clock.now)).toEqual({ where: "here", call: "open" });
  settled();
  clock.advance(30);
  expect(earlierSender(journal, sent("k", 1), clock.now)).toEqual({
    where: "here",
    call: "settled",
    settledAgoMs: 30,
  });
});

test("the last send of another epoch, of another key or on another journal was made elsewhere", () => {
  const journal = newJournal();
  callBegins(journal, "k", 1, clock.now)();
  for (const [asked, operation] of [
    [journal, sent("k", 2)],
    [journal, sent("other", 1)],
    [newJournal(), sent("k", 1)],
    [journal, { key: "k", submitted: null }],
  ] as const) {
    expect(earlierSender(asked, operation, clock.now)).toEqual({ where: "elsewhere" });
  }
});

test("an earlier call that is still open keeps a later one from counting as settled", () => {
  const journal = newJournal();
  const firstSettled = callBegins(journal, "k", 1, clock.now);
  callBegins(journal, "k", 2, clock.now)();
  expect(earlierSender(journal, sent("k", 2), clock.now)).toEqual({ where: "here", call: "open" });
  firstSettled();
  expect(earlierSender(journal, sent("k", 2), clock.now)).toMatchObject({ call: "settled" });
});

test("the oldest settled calls are forgotten, an open one never", () => {
  const journal = newJournal();
  callBegins(journal, "open", 1, clock.now);
  callBegins(journal, "first", 1, clock.now)();
  for (let index = 0; index < 1_000; index += 1) {
    callBegins(journal, `k-${index}`, 1, clock.now)();
  }
  expect(earlierSender(journal, sent("first", 1), clock.now)).toEqual({ where: "elsewhere" });
  expect(earlierSender(journal, sent("k-999", 1), clock.now)).toMatchObject({ where: "here" });
  expect(earlierSender(journal, sent("open", 1), clock.now)).toEqual({ where: "here", call: "open" });
});
