/** The API killed in each window of an admission: what a caller was told holds, and repeating gives one batch. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newRunToken } from "../../../crash-lab/taps/tokens.js";
import { invoices, keyOf, people } from "./api-rig.js";
import { ask, processRig, spawnApi, spawnTappedApi, WindowKiller, type Told } from "./process-rig.js";

const rig = processRig();

const submit = (url: string, who: string, key: string, ...keys: readonly string[]): Promise<Told | null> =>
  ask(`${url}/api/invoice-batches`, keyOf(who), {
    method: "POST",
    headers: { "Idempotency-Key": key },
    body: JSON.stringify(invoices(...keys)),
  });

/** Requests under a key, with the starts that were written for them. */
async function admitted(who: string, key: string): Promise<readonly { id: string; starts: number }[]> {
  const { rows } = await sql<{ id: string; starts: number }>`
    select request_id as id, (select count(*) from outbox where ordering_key = 'workflow:' || workflow_id) as starts
      from requests where caller = ${who} and idempotency_key = ${key}`.execute(rig.ledger);
  return rows;
}

interface Played {
  readonly windows: readonly string[];
  readonly told: Told | null;
  readonly key: string;
  readonly invoiceKey: string;
}

async function play(name: string, killAt: number | null, deliverLast = false): Promise<Played> {
  const token = newRunToken();
  const key = `key-${token}`;
  const killer = new WindowKiller((_, index) => index === killAt, deliverLast);
  const api = await spawnTappedApi(
    rig.run,
    { name, ledgerUrl: rig.ledgerUrl, callers: people },
    killer.decide,
  );
  killer.watch(api.process);
  const told = await submit(api.url, "sue", key, `invoice-${token}`);
  if (killAt === null) await api.process.stop();
  expect(await api.process.exited).toEqual(
    killAt === null ? { code: 0, signal: null } : { code: null, signal: "SIGKILL" },
  );
  await api.closeTaps();
  return { windows: killer.windows, told, key, invoiceKey: `invoice-${token}` };
}

test("in every window: told 2xx is one batch, told nothing is none or one, and repeating gives one", async () => {
  const golden = await play("golden", null);
  expect(golden.told?.status).toBe(202);
  expect(golden.windows.at(0)).toBe("ingress POST /api/invoice-batches before");
  expect(golden.windows.at(-1)).toBe("ingress POST /api/invoice-batches after");
  expect(golden.windows.filter((window) => window.startsWith("postgres"))).not.toHaveLength(0);

  const survivor = await spawnApi(rig.run, { name: "survivor", ledgerUrl: rig.ledgerUrl, callers: people });
  const last = golden.windows.length - 1;
  const kills = [...golden.windows.keys()].map((at) => ({ at, deliverLast: false }));
  const seen: string[] = [];
  for (const { at, deliverLast } of [...kills, { at: last, deliverLast: true }]) {
    const window = golden.windows[at]!;
    const played = await play(`victim-${at}${deliverLast ? "-told" : ""}`, at, deliverLast);
    // It was killed where it was meant to be, and everything before happened as in the golden run.
    expect(played.windows, window).toEqual(golden.windows.slice(0, at + 1));
    const { told, key, invoiceKey } = played;
    const before = await admitted("sue", key);
    expect(before.length, window).toBeLessThanOrEqual(1);
    expect(told === null || before.length === 1, window).toBe(true);
    expect(told?.status, window).toBe(deliverLast ? 202 : undefined);
    seen.push(`${told === null ? "nothing" : told.status} ${before.length}`);

    const repeated = await submit(survivor.url, "sue", key, invoiceKey);
    expect(repeated?.status, window).toBe(202);
    const after = await admitted("sue", key);
    expect(after, window).toEqual([{ id: repeated?.body["batchId"], starts: 1 }]);
    // What was there, and what somebody was told of, is this batch and no other.
    expect(
      [...before, ...after].every(({ id }) => id === after[0]!.id),
      window,
    ).toBe(true);
    expect(told === null || told.body["batchId"] === after[0]!.id, window).toBe(true);

    const other = await submit(survivor.url, "sue", key, `${invoiceKey}-other`);
    expect(other, window).toMatchObject({
      status: 409,
      body: { type: "urn:problem-type:killproof:IdempotencyKeyReused", requestId: after[0]!.id },
    });
    const another = await submit(survivor.url, "sam", key, invoiceKey);
    expect(another?.status, window).toBe(202);
    expect(another?.body["batchId"], window).not.toBe(after[0]!.id);
    expect(await admitted("sue", key), window).toEqual(after);
  }
  // All three that can be were seen, so the kills did reach both sides of the commit.
  expect(new Set(seen)).toEqual(new Set(["nothing 0", "nothing 1", "202 1"]));
});
