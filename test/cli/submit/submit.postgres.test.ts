/** The command against the real API on a real ledger; what would take time is played by the test. */
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { sql } from "kysely";
import { changeRequestState } from "../../../adapters/ledger/requests/change-state.js";
import { submit, type SubmitOptions } from "../../../cli/submit/submit.js";
import { freePort, messageOf } from "../../../platform/index.js";
import { apiRig, keyOf } from "../../services/api/api-rig.js";
import { folderWith, numbered, Output } from "./folder.js";

const openBatchesMax = 2;
const rig = apiRig({ openBatchesMax });
let url: string;

beforeAll(async () => {
  url = await rig.app.listen({ host: "127.0.0.1", port: 0 });
});
beforeEach(async () => {
  await sql`update requests set state = 'completed' where state not in ('completed', 'failed')`.execute(
    rig.database.ledger,
  );
});

interface Played {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function play(folder: string, options: Partial<SubmitOptions> = {}): Promise<Played> {
  const stdout = new Output();
  const stderr = new Output();
  const code = await submit({
    folder,
    url,
    environment: { KILLPROOF_API_KEY: keyOf("sue") },
    stdout,
    stderr,
    pause: () => Promise.reject(new Error("it waited")),
    ...options,
  });
  for (const { text } of [stdout, stderr]) expect(text).not.toContain("key-of-");
  return { code, stdout: stdout.text, stderr: stderr.text };
}

interface Document {
  readonly exitCode: number;
  readonly stop: { readonly reason: string } | null;
  readonly batches: readonly {
    readonly idempotencyKey: string;
    readonly standing: string;
    readonly batchId?: string;
    readonly state?: string;
    readonly invoices: readonly { readonly file: string; readonly outcome: string }[];
  }[];
}

const documentOf = ({ stdout }: Played) => JSON.parse(stdout) as Document;

const requests = () =>
  rig.database.ledger
    .selectFrom("requests")
    .select(["request_id", "idempotency_key", "body"])
    .orderBy("admitted_at")
    .execute();

async function end(batchId: string, outcomes: readonly object[]): Promise<void> {
  await changeRequestState(rig.database.ledger, {
    requestId: batchId,
    to: "completed",
    result: JSON.parse(JSON.stringify({ batchId, outcomes, failures: 0 })) as never,
  });
}

test("a folder is handed in as batches of at most eight, each invoice once, and reported", async () => {
  const folder = await folderWith({ ...numbered("first", 11), "readme.txt": "r" });
  const before = await requests();
  const played = await play(folder, { json: true });
  const { batches, exitCode } = documentOf(played);
  expect([played.code, exitCode]).toEqual([0, 0]);
  expect(batches.map(({ invoices }) => invoices.length)).toEqual([8, 3]);
  expect(batches.flatMap(({ invoices }) => invoices.map(({ file }) => file))).toEqual(
    Object.keys(numbered("first", 11)),
  );
  const stored = (await requests()).slice(before.length);
  expect(stored.map((row) => row.idempotency_key)).toEqual(batches.map((batch) => batch.idempotencyKey));
  expect(stored.map((row) => row.request_id)).toEqual(batches.map((batch) => batch.batchId));
  expect(stored.map(({ body }) => (body as { invoices: unknown }).invoices)[1]).toEqual(
    ["first-09", "first-10", "first-11"].map((invoiceKey) => ({
      invoiceKey,
      documentId: `${invoiceKey}.xml`,
      revision: 1,
    })),
  );

  const text = (await play(folder)).stdout;
  expect(text).toMatch(
    /^Batch 1 of 2: admitted, http:\/\/127\.0\.0\.1:\d+\/api\/invoice-batches\/sue~submit-/,
  );
  expect(text).toContain("  open           first-11.xml\n");
  expect(text).toContain("Left out, as neither .xml nor .pdf: readme.txt\n2 of 2 batches handed in.\n");
});

test("handed in again, nothing is handed in twice, and a changed file is another batch", async () => {
  const files = numbered("again", 3);
  const folder = await folderWith(files);
  await play(folder);
  const after = await requests();
  await play(folder);
  await play(await folderWith(files));
  expect(await requests()).toEqual(after);
  await play(await folderWith({ ...files, "again-02.xml": "corrected" }), { revision: "2" });
  expect(await requests()).toHaveLength(after.length + 1);
});

test("without a place it waits as long as the API says, then longer, and goes on when one is free", async () => {
  const folder = await folderWith(numbered("place", 4));
  const pauses: number[] = [];
  const played = await play(folder, {
    batchSize: "1",
    json: true,
    pause: async (ms) => {
      pauses.push(ms);
      if (pauses.length < 3) return;
      // Now the two open ones end.
      await sql`update requests set state = 'completed' where state = 'admitted'`.execute(
        rig.database.ledger,
      );
    },
  });
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
  expect(played.code).toBe(0);
  expect(documentOf(played).batches.map(({ standing }) => standing)).toEqual(Array(4).fill("handed-in"));
  expect(played.stderr).toContain("Waiting 5 s: north has 2 open batches");
});

test("it gives up when it was told to, says what is left, and the next time goes on from there", async () => {
  const folder = await folderWith(numbered("patience", 3));
  const before = await requests();
  let waitedMs = 0;
  const pause = async (ms: number) => void (waitedMs += ms);
  const played = await play(folder, { batchSize: "1", giveUpAfter: "1", pause });
  expect(played.code).toBe(2);
  expect(waitedMs).toBeLessThanOrEqual(60_000);
  expect(played.stdout).toContain("Batch 3 of 3: not handed in");
  expect(played.stdout).toMatch(
    /2 of 3 batches handed in\.\nGave up after 35 s of waiting: .*\nThe same command again/,
  );
  await sql`update requests set state = 'completed' where state = 'admitted'`.execute(rig.database.ledger);
  expect((await play(folder, { batchSize: "1" })).code).toBe(0);
  expect(await requests()).toHaveLength(before.length + 3);
});

describe("--wait", () => {
  test("tells how each invoice ended", async () => {
    const folder = await folderWith(numbered("end", 3));
    let looks = 0;
    const played = await play(folder, {
      wait: true,
      batchSize: "2",
      pause: async () => {
        looks += 1;
        const [second, first] = (await requests()).toReversed();
        const posted = (invoiceKey: string) => ({ outcome: "posted", invoiceKey, entryReference: "ENTRY-1" });
        if (looks === 1) await end(first!.request_id, [posted("end-01"), posted("end-02")]);
        if (looks === 2) await end(second!.request_id, [posted("end-03")]);
      },
    });
    expect([played.code, looks]).toEqual([0, 2]);
    for (const number of [1, 2, 3]) {
      expect(played.stdout).toContain(`  posted         end-0${number}.xml  ENTRY-1\n`);
    }
  });

  test("ends with 1 when one wasn't posted, with the reason of each", async () => {
    const names = ["r", "p", "d", "e", "f"];
    const folder = await folderWith(Object.fromEntries(names.map((name) => [`ends-${name}.xml`, name])));
    const finding = { rule: "gross-total", field: "totals.grossMinor", expected: "119.00", actual: "120.00" };
    const played = await play(folder, {
      wait: true,
      pause: async () => {
        const [latest] = (await requests()).toReversed();
        await end(latest!.request_id, [
          { outcome: "rejected", invoiceKey: "ends-r", findings: [finding] },
          { outcome: "rejected", invoiceKey: "ends-p", findings: [], rejectedBy: "ann" },
          { outcome: "duplicate", invoiceKey: "ends-d", duplicateOf: "other:ends-d" },
          { outcome: "expired", invoiceKey: "ends-e", reviewId: "review:x" },
          { outcome: "failed-visibly", invoiceKey: "ends-f", type: "InvalidDocument", message: "no XML" },
        ]);
      },
    });
    expect(played.code).toBe(1);
    expect(played.stdout).toContain(
      "rejected       ends-r.xml  gross-total: totals.grossMinor is 120.00, should be 119.00",
    );
    expect(played.stdout).toContain("rejected       ends-p.xml  by ann");
    expect(played.stdout).toContain("duplicate      ends-d.xml  of other:ends-d");
    expect(played.stdout).toContain("expired        ends-e.xml  review:x");
    expect(played.stdout).toContain("failed-visibly ends-f.xml  InvalidDocument: no XML");
  });

  test("gives up on batches that don't move", async () => {
    const folder = await folderWith(numbered("still", 1));
    const played = await play(folder, { wait: true, giveUpAfter: "1", pause: async () => undefined });
    expect(played.code).toBe(2);
    expect(played.stdout).toContain(
      "Gave up waiting: 1 batches are still open, and none of them moved for 1 minutes.",
    );
  });
});

test.each([
  ["nobody's key", "nobody", 401, "Unauthenticated"],
  ["a reviewer's key", keyOf("ann"), 403, "NotAllowed"],
])("with %s it stops at once, hands in nothing, and says why", async (_, key, status, name) => {
  const folder = await folderWith(numbered("key", 9));
  const before = await requests();
  const played = await play(folder, { environment: { KILLPROOF_API_KEY: key } });
  expect(played.code).toBe(1);
  expect(played.stdout).toContain(
    `0 of 2 batches handed in.\nThe API refused the caller with ${status} ${name}: `,
  );
  expect(await requests()).toEqual(before);
});

test("what the API refuses is told, and the other batches are handed in all the same", async () => {
  const folder = await folderWith(numbered("conflict", 2));
  const refused = await play(folder, {
    batchSize: "1",
    json: true,
    environment: { KILLPROOF_API_KEY: "nobody" },
  });
  // Somebody used the first batch's key for something else.
  const taken = documentOf(refused).batches[0]!.idempotencyKey;
  await rig.submit("sue", taken, { invoices: [{ invoiceKey: "x", documentId: "x.xml" }] });
  const played = await play(folder, { batchSize: "1" });
  expect(played.code).toBe(1);
  expect(played.stdout).toContain("Batch 1 of 2: refused with 409 IdempotencyKeyReused: the key");
  expect(played.stdout).toContain("  refused        conflict-01.xml\n");
  expect(played.stdout).toContain("1 of 2 batches handed in.");
});

describe("an API that can't be used", () => {
  async function answering(
    answer: (count: number) => { status: number; body: string; headers?: Record<string, string> },
  ) {
    let count = 0;
    const server = createServer((request, response) => {
      request.resume();
      const { status, body, headers } = answer((count += 1));
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("that nobody listens is said after some tries, with the address", async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    const pauses: number[] = [];
    const played = await play(await folderWith(numbered("away", 1)), {
      url: address,
      pause: async (ms) => void pauses.push(ms),
    });
    expect(played.code).toBe(2);
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(played.stdout).toContain(
      `${address}/ could not be reached or used in 6 tries: nothing listens there (ECONNREFUSED).`,
    );
  });

  test("a proxy's trouble is waited out, by its own Retry-After", async () => {
    const pauses: number[] = [];
    const address = await answering((count) =>
      count < 3
        ? { status: 502, body: "<html>bad gateway</html>", headers: { "Retry-After": "3" } }
        : {
            status: 200,
            body: JSON.stringify({ batchId: "b", state: "admitted", statusUrl: "/b", result: null }),
          },
    );
    const played = await play(await folderWith(numbered("proxy", 1)), {
      url: address,
      pause: async (ms) => void pauses.push(ms),
    });
    expect([played.code, pauses]).toEqual([0, [3_000, 6_000]]);
  });

  test.each([
    ["a page", { status: 200, body: "<html>" }],
    ["a page that isn't there", { status: 404, body: "<html>" }],
    [
      "a redirection, which the key isn't sent after",
      { status: 302, body: "", headers: { Location: "http://127.0.0.1:1/" } },
    ],
  ])("%s is a stranger's answer", async (_, answer) => {
    const address = await answering(() => answer);
    const played = await play(await folderWith(numbered("stranger", 1)), { url: address });
    expect(played.code).toBe(2);
    expect(played.stdout).toContain(`${address}/ isn't the API: it answered ${answer.status}`);
  });
});

test("a folder that can't be handed in is told before the API is asked", async () => {
  const error: unknown = await play("/no/such/folder", { url: "http://127.0.0.1:1" }).catch(
    (thrown: unknown) => thrown,
  );
  expect(messageOf(error)).toBe("The folder /no/such/folder can't be read: it isn't there.");
});
