/** Who may see and change what: the journal is append-only, for the judge's eyes, and complete. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorldControl } from "../../../scenarios/world/control.js";
import { createWorldJournal } from "../../../scenarios/world/journal.js";
import { prepareDatabase } from "../../../services/world/database/prepare.js";
import { createDatabase, startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";

let world: TestWorld;
beforeAll(async () => {
  world = await startTestWorld();
  await world.control.putDocument("acme-1.xml", "application/xml", Buffer.from("<Invoice/>"));
});
afterAll(() => world.dispose());

const control = (path: string, token?: string, init: RequestInit = {}) =>
  fetch(`${world.baseUrl("control")}${path}`, {
    ...init,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });

describe("the back door", () => {
  const { WORLD_JUDGE_TOKEN: judge, WORLD_CONTROL_TOKEN: story, ...clients } = worldSecrets;

  test("without a token, or with an unknown one: 401", async () => {
    for (const path of ["/journal", "/faults", "/nothing"]) {
      expect((await control(path)).status).toBe(401);
      expect((await control(path, "some-token-or-other")).status).toBe(401);
    }
  });

  test("with a client's API key: 403 everywhere", async () => {
    for (const key of Object.values(clients)) {
      for (const path of ["/journal", "/faults", "/nothing"]) {
        expect((await control(path, key)).status).toBe(403);
      }
      expect((await control("/documents/a.xml", key, { method: "PUT", body: "x" })).status).toBe(403);
    }
  });

  test("the story can't read the journal, the judge can't change anything", async () => {
    expect((await control("/journal", story)).status).toBe(403);
    expect((await control("/journal", judge)).status).toBe(200);
    expect((await control("/faults", judge)).status).toBe(403);
    expect((await control("/faults/1", judge, { method: "DELETE" })).status).toBe(403);
    expect((await control("/documents/a.xml", judge, { method: "PUT", body: "x" })).status).toBe(403);
  });

  test("bad questions are answered with what is allowed", async () => {
    const answer = await control("/journal?run=a-b&after=-1", judge);
    expect(answer.status).toBe(400);
    const problem = (await answer.json()) as { type: string; detail: string };
    expect(problem.type).toBe("https://control.example/problems/invalid-request");
    expect(problem.detail).toContain('run: must be 1 to 64 letters and digits, got "a-b"');
    expect(problem.detail).toContain("after:");
    await expect(
      world.control.tellFault({ kind: "slow", ms: -1, run: "r1", system: "mail" }),
    ).rejects.toThrow("POST /faults: the world answered 400: ms: must be at least 1 ms, got -1");
    await expect(world.control.removeFault(99_999)).rejects.toThrow("There is no fault 99999.");
    await expect(world.control.putDocument("..", "text/plain", Buffer.from("x"))).rejects.toThrow();
  });
});

describe("the systems' front doors", () => {
  test.each([
    ["accounting", "/postings?invoiceKey=a"],
    ["documents", "/documents/acme-1.xml"],
    ["mail", "/messages"],
  ] as const)("%s answers 401 without its own key", async (system, path) => {
    const ask = async (token?: string) =>
      fetch(`${world.baseUrl(system)}${path}`, {
        method: system === "mail" ? "POST" : "GET",
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
      });
    const without = await ask();
    expect(without.status).toBe(401);
    expect(without.headers.get("content-type")).toContain("application/problem+json");
    expect((await ask(worldSecrets.WORLD_JUDGE_TOKEN)).status).toBe(401);
    expect((await ask("x")).status).toBe(401);
  });

  test("no route of theirs leads to the journal", async () => {
    for (const [system, key] of [
      ["accounting", worldSecrets.WORLD_ACCOUNTING_API_KEY],
      ["documents", worldSecrets.WORLD_DOCUMENTS_API_KEY],
      ["mail", worldSecrets.WORLD_MAIL_API_KEY],
    ] as const) {
      const answer = await fetch(`${world.baseUrl(system)}/journal`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(answer.status).toBe(404);
    }
  });

  test("a body that breaks the contract is refused, and isn't in the journal", async () => {
    const before = (await world.journal.read()).length;
    const send = (body: string) =>
      fetch(`${world.baseUrl("accounting")}/postings`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}`,
          "content-type": "application/json",
        },
        body,
      });
    const bad = await send(JSON.stringify({ invoiceKey: "a", revision: 0, currency: "eur", note: "x" }));
    expect(bad.status).toBe(400);
    const { detail } = (await bad.json()) as { detail: string };
    expect(detail).toContain("revision: must be a whole number from 1, got 0");
    expect(detail).toContain('currency: must be three capital letters, got "eur"');
    expect((await send("{")).status).toBe(400);
    expect((await send(JSON.stringify("x".repeat(300_000)))).status).toBe(413);
    expect((await world.journal.read()).length).toBe(before);
  });
});

describe("the database", () => {
  const as = async (kind: "writerUrl" | "judgeUrl", work: (client: pg.Client) => Promise<void>) => {
    const database = await createDatabase();
    const urls = await prepareDatabase(database.url);
    const client = new pg.Client({ connectionString: urls[kind] });
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
      await database.drop();
    }
  };
  const insert = `insert into journal (system, operation, kind, request_id, business_key, digest, content, faults)
    values ('mail', 'send', 'received', gen_random_uuid(), 'k', 'd', '{}', '{}')`;

  test("refuses to change or empty the journal, even for its owner", async () => {
    for (const statement of [
      "update journal set kind = 'dropped'",
      "delete from journal",
      "truncate journal",
    ]) {
      await expect(world.owner.query(statement), statement).rejects.toThrow("the journal is append-only");
    }
  });

  test("the writer appends and can neither read nor change", async () => {
    await as("writerUrl", async (client) => {
      await client.query(insert);
      for (const statement of [
        "select * from journal",
        "update journal set kind = 'dropped'",
        "delete from journal",
        "truncate journal",
        "drop table journal",
        "alter table journal disable trigger journal_append_only",
        "update postings set amount_minor = 0",
        "create table notes (note text)",
      ]) {
        await expect(client.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
      }
    });
  });

  test("the judge reads the journal and nothing else", async () => {
    await as("judgeUrl", async (client) => {
      await client.query("select * from journal");
      for (const statement of [
        insert,
        "delete from journal",
        "select * from postings",
        "select * from messages",
      ]) {
        await expect(client.query(statement), statement).rejects.toThrow("permission denied");
      }
    });
  });

  test("is prepared by ten at once, and again later", async () => {
    const database = await createDatabase();
    try {
      await Promise.all(Array.from({ length: 10 }, () => prepareDatabase(database.url)));
      const { judgeUrl } = await prepareDatabase(database.url);
      const client = new pg.Client({ connectionString: judgeUrl });
      await client.connect();
      const { rows } = await client.query("select * from journal");
      await client.end();
      expect(rows).toEqual([]);
    } finally {
      await database.drop();
    }
  });
});

describe("reading", () => {
  test("waits for what isn't there yet, and says what was there instead", async () => {
    const run = world.newRun();
    const waiting = world.journal.until(({ kind }) => kind === "committed", { run, timeoutMs: 15_000 });
    await world.control.putDocument(`file-${run}.xml`, "application/xml", Buffer.from("<a/>"));
    expect(await waiting).toMatchObject({ system: "documents", operation: "put", key: `file-${run}.xml` });
    await expect(
      world.journal.until(({ kind }) => kind === "dropped", { run, timeoutMs: 50 }),
    ).rejects.toThrow(
      /no such entry in the journal within 50 ms; there was: \d+ documents put received .* \| \d+ documents put committed/,
    );
  });

  test("numbers are in the order of the commits, with many at once", async () => {
    const run = world.newRun();
    const rows = 80;
    const follow = async () => {
      const seen: number[] = [];
      while (seen.length < rows) {
        const after = seen.at(-1) ?? 0;
        await world.journal.until(({ seq }) => seq > after, { run, after, timeoutMs: 15_000 });
        seen.push(...(await world.journal.read({ run, after })).map(({ seq }) => seq));
      }
      return seen;
    };
    const following = follow();
    await Promise.all(
      Array.from({ length: rows / 2 }, (_, index) =>
        world.control.putDocument(`${run}-${index}.xml`, "application/xml", Buffer.from("<a/>")),
      ),
    );
    // A reader that always asks for what comes after the last number it saw misses nothing.
    expect(await following).toEqual((await world.journal.read({ run })).map(({ seq }) => seq));
  });

  test("wrong tokens are told so", async () => {
    const baseUrl = world.baseUrl("control");
    await expect(createWorldJournal({ baseUrl, judgeToken: "not-the-token-at-all" }).read()).rejects.toThrow(
      "401",
    );
    const control = createWorldControl({ baseUrl, token: worldSecrets.WORLD_JUDGE_TOKEN });
    await expect(control.faults("r1")).rejects.toThrow("403");
  });
});
