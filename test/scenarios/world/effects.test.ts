import { expect, test } from "vitest";
import { effectsOf, untilSettled } from "../../../scenarios/world/effects.js";
import { toEvidence } from "../../../scenarios/world/evidence.js";
import type { JournalEntry } from "../../../scenarios/world/journal.js";

const entry = (seq: number, fields: Partial<JournalEntry>): JournalEntry => ({
  seq,
  at: "2026-01-01T00:00:00.000Z",
  system: "accounting",
  operation: "post",
  kind: "committed",
  requestId: "00000000-0000-4000-8000-000000000001",
  key: "acme:INV-r1-1",
  idempotencyKey: null,
  digest: "d",
  content: {},
  status: null,
  faults: [],
  ...fields,
});
const posting = (run: string, more: Record<string, string | number> = {}) => ({
  invoiceKey: `acme:INV-${run}-1`,
  amountMinor: 5,
  payloadDigest: `digest of ${run}`,
  ...more,
});
const journalOf = (...entries: JournalEntry[]) => ({ read: async () => entries });

test("the same effect in two runs compares equal, another content or subject doesn't", async () => {
  const effect = async (run: string, content = posting(run), key = content.invoiceKey) =>
    (await effectsOf(journalOf(entry(7, { key, content })), run))[0]!;
  const first = await effect("r1");
  expect(first).toMatchObject({ system: "accounting", subject: "post:acme:INV-<run>-1", sequence: 7 });
  expect(await effect("r2")).toEqual(first);
  expect((await effect("r1", posting("r1", { amountMinor: 6 }))).contentDigest).not.toBe(first.contentDigest);
  expect((await effect("r1", posting("r1", { note: "r1x" }))).contentDigest).not.toBe(
    (await effect("r2", posting("r2", { note: "r2x" }))).contentDigest,
  );
  expect((await effect("r1", posting("r1"), "acme:INV-r1-2")).subject).toBe("post:acme:INV-<run>-2");
});

test("only what was committed on request or by hand is an effect", async () => {
  const effects = await effectsOf(
    journalOf(
      entry(1, { kind: "received" }),
      entry(2, { operation: "manual" }),
      entry(3, {}),
      entry(4, { kind: "answered", status: 201 }),
      entry(5, { system: "documents", operation: "put" }),
      entry(6, { system: "mail", operation: "send", key: "review:r1" }),
    ),
    "r1",
  );
  expect(effects.map(({ subject }) => subject)).toEqual([
    "manual:acme:INV-<run>-1",
    "post:acme:INV-<run>-1",
    "send:review:<run>",
  ]);
});

test("settled when every request has had its end, and not before", async () => {
  const [one, two] = [
    "00000000-0000-4000-8000-00000000000a",
    "00000000-0000-4000-8000-00000000000b",
  ] as const;
  const rows = [
    entry(1, { kind: "received", requestId: one }),
    entry(2, { kind: "received", requestId: two }),
    entry(3, { kind: "dropped", requestId: two }),
  ];
  let woken = 0;
  const journal = {
    read: async ({ after = 0 }: { after?: number } = {}) => rows.filter(({ seq }) => seq > after),
    until: async () => {
      woken += 1;
      rows.push(entry(4, { kind: "answered", requestId: one, status: 201 }));
      return rows.at(-1)!;
    },
  };
  await untilSettled(journal, "r1", { timeoutMs: 10_000 });
  expect(woken).toBe(1);
});

test("what never ends is named", async () => {
  const rows = [entry(1, { kind: "received" })];
  const journal = {
    read: async ({ after = 0 }: { after?: number } = {}) => rows.filter(({ seq }) => seq > after),
    until: async ({ timeoutMs }: { timeoutMs: number }) => {
      await new Promise((resolve) => setTimeout(resolve, timeoutMs + 1));
      throw new Error("nothing came");
    },
  };
  const until = (_: unknown, options: { timeoutMs: number }) => journal.until(options);
  await expect(untilSettled({ ...journal, until }, "r1", { timeoutMs: 20 })).rejects.toThrow(
    "still under way after 20 ms: accounting post acme:INV-r1-1",
  );
});

test("evidence is one JSON object a line", () => {
  const lines = toEvidence("r1", [
    entry(1, { kind: "received" }),
    entry(2, { kind: "answered", status: 201 }),
  ]);
  expect(
    lines
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    {
      run: "r1",
      system: "accounting",
      seq: 1,
      at: "2026-01-01T00:00:00.000Z",
      kind: "received",
      key: "acme:INV-r1-1",
      digest: "d",
      status: null,
    },
    {
      run: "r1",
      system: "accounting",
      seq: 2,
      at: "2026-01-01T00:00:00.000Z",
      kind: "answered",
      key: "acme:INV-r1-1",
      digest: "d",
      status: 201,
    },
  ]);
});

test("a mail that names its deadline compares equal in two runs, and another text doesn't", async () => {
  const mail = (run: string, text: string) =>
    effectsOf(
      journalOf(entry(1, { system: "mail", operation: "send", key: `review:${run}`, content: { text } })),
      run,
    );
  const [first] = await mail("r1", "Decide on INV-r1 until 2026-12-01T02:03:04.567Z.");
  expect(await mail("r2", "Decide on INV-r2 until 2027-01-31T23:59:59Z.")).toEqual([first]);
  expect(await mail("r2", "Decide on INV-r2 until 2027-01-31.")).not.toEqual([first]);
});
