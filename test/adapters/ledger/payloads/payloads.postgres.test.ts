import { createHash } from "node:crypto";

import { sql } from "kysely";
import { expect, test } from "vitest";

import { UnknownPayload } from "../../../../adapters/ledger/payloads/get-payload.js";
import { createPayloadStore } from "../../../../adapters/ledger/payloads/payload-store.js";
import { payloadBytesMax, PayloadTooLarge } from "../../../../adapters/ledger/payloads/put-payload.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();

test("a value is kept under the digest of its canonical JSON, whoever stores it how often", async () => {
  const store = createPayloadStore(database.ledger);
  const canonical = '{"amountMinor":1190,"lines":["ä","€"],"rate":0.1}';
  const digest = createHash("sha256").update(canonical).digest("hex");
  const puts = await Promise.all([
    store.put("extracted-invoice", { rate: 0.1, amountMinor: 1190, lines: ["ä", "€"] }),
    store.put("extracted-invoice", { amountMinor: 1190.0, lines: ["ä", "€"], rate: 0.1 }),
    store.put("other-name", { lines: ["ä", "€"], rate: 0.1, amountMinor: 1190 }),
  ]);
  expect(puts).toEqual([digest, digest, digest]);
  expect(await store.get(digest)).toEqual({ amountMinor: 1190, lines: ["ä", "€"], rate: 0.1 });
});

test("numbers and texts that jsonb would change come back exactly", async () => {
  const store = createPayloadStore(database.ledger);
  const value = { large: 1e21, small: 5e-324, minus: -0.5, text: "a\u007f\ud83d\ude00" };
  expect(await store.get(await store.put("numbers", value))).toEqual(value);
});

test("what was never stored is named", async () => {
  const store = createPayloadStore(database.ledger);
  await expect(store.get("0".repeat(64))).rejects.toThrow(UnknownPayload);
  await expect(store.get("0".repeat(64))).rejects.toThrow(`under the digest "${"0".repeat(64)}"`);
});

test("a value above the limit is refused with its size", async () => {
  const store = createPayloadStore(database.ledger);
  const fits = "x".repeat(payloadBytesMax - 2);
  await expect(store.put("big", fits)).resolves.toHaveLength(64);
  await expect(store.put("big", `${fits}x`)).rejects.toThrow(PayloadTooLarge);
  await expect(store.put("big", `${fits}x`)).rejects.toThrow(
    `The payload "big" takes ${payloadBytesMax + 1} bytes as canonical JSON; allowed: at most ${payloadBytesMax}.`,
  );
});

test("the database refuses a wrong digest, and every change", async () => {
  const { ledger } = database;
  const digest = await createPayloadStore(ledger).put("kept", { kept: true });
  await expect(
    ledger
      .insertInto("payloads")
      .values({ digest: "f".repeat(64), kind: "x", content: "{}" })
      .execute(),
  ).rejects.toThrow("payloads_check");
  for (const change of [
    `update payloads set content = '{}' where digest = '${digest}'`,
    `delete from payloads where digest = '${digest}'`,
    "truncate payloads cascade",
  ]) {
    await expect(sql.raw(change).execute(ledger), change).rejects.toThrow("never changed and never removed");
  }
});
