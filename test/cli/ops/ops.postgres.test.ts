/** What an operator is shown and told, on a ledger alone. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { enqueue } from "../../../adapters/ledger/outbox/enqueue.js";
import { claimOutbox } from "../../../adapters/ledger/outbox/claim.js";
import { markFailed } from "../../../adapters/ledger/outbox/mark-failed.js";
import type { OpsEntry } from "../../../cli/ops/entries.js";
import { opsAnswer, opsList, opsShow } from "../../../cli/ops/ops.js";
import type { AnswerFlags } from "../../../cli/ops/options.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();
let serial = 0;

const environment = () => ({ LEDGER_URL: database.url, OPS_WAITING_MS: "0" });

async function list(): Promise<readonly OpsEntry[]> {
  let written = "";
  const stdout = { write: (text: string) => (written += text) };
  expect(await opsList({ environment: environment(), stdout, json: true })).toBe(0);
  return JSON.parse(written) as OpsEntry[];
}

async function text(command: (stdout: { write(text: string): unknown }) => Promise<number>) {
  let written = "";
  const code = await command({ write: (part) => (written += part) });
  return { code, written };
}

const answer = (question: string, flags: AnswerFlags) =>
  text((stdout) => opsAnswer({ environment: environment(), stdout, question, ...flags }));

async function ask(kind: string, subject: string, reason: string, evidence: object): Promise<string> {
  const { rows } = await sql<{ id: number }>`
    insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
    values (${kind}, ${subject}, ${reason}, ${JSON.stringify(evidence)}::jsonb, '{}', ledger_now() - interval '90 minutes')
    returning id`.execute(database.ledger);
  return String(rows[0]!.id);
}

async function failedMail(): Promise<{ key: string; question: string }> {
  const key = `mail:test:${(serial += 1)}`;
  await database.ledger
    .transaction()
    .execute((transaction) =>
      enqueue(transaction, key, { kind: "mail", to: `${serial}@example`, subject: "s", text: "t" }),
    );
  const [claimed] = await claimOutbox(database.ledger, { owner: "test", leaseMs: 60_000, limit: 1 });
  await markFailed(database.ledger, { ...claimed!, reason: "no such reader", outcome: {} });
  const question = await ask("outbox", key, "message-not-deliverable", {
    kind: "mail",
    reason: "no such reader",
  });
  return { key, question };
}

const pending = async () =>
  (
    await sql<{ message_key: string }>`select message_key from outbox where state = 'pending'`.execute(
      database.ledger,
    )
  ).rows.map(({ message_key }) => message_key);

test("a mail that failed is sent again under a key of its own, once, however often it is answered", async () => {
  const { key, question } = await failedMail();
  expect((await list()).find(({ id }) => id === question)).toMatchObject({
    kind: "outbox",
    subject: key,
    answers: ["adopt", "redrive"],
  });
  const flags = { redrive: true, by: "ann", id: "a-1" };
  const first = await answer(question, flags);
  expect(first).toMatchObject({ code: 0, written: `${key}: the message is sent again.\n` });
  expect(await Promise.all([answer(question, flags), answer(question, flags)])).toEqual([first, first]);
  expect(await pending()).toEqual([`redrive:${question}`]);
  expect(await answer(question, { ...flags, id: "a-2" })).toEqual({
    code: 1,
    written: `Refused: ${question} was answered before, by ann under the id a-1. That answer stands.\n`,
  });
  await sql`update outbox set state = 'sent', settled_at = ledger_now() where state = 'pending'`.execute(
    database.ledger,
  );
});

test("of two answers at once one counts, and the other is told whose did", async () => {
  const { question } = await failedMail();
  const answers = await Promise.all([
    answer(question, { redrive: true, by: "ann", id: "ann-1" }),
    answer(question, { adopt: "MSG-1", by: "bob", id: "bob-1" }),
  ]);
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(answers.find(({ code }) => code === 1)!.written).toMatch(/was answered before, by (ann|bob)/);
});

test("an invoice that the same try would only fail again takes no redrive, and says what helps", async () => {
  const restart = { workflowId: "invoice:k", workflowType: "processInvoice", taskQueue: "q", args: [{}] };
  const refused = await ask("invoice", `invoice:${(serial += 1)}`, "InvalidDocument", {
    detail: "d",
    restart,
  });
  expect(await answer(refused, { redrive: true, by: "ann", id: "i" })).toMatchObject({
    code: 1,
    written: expect.stringContaining("hand in a corrected file"),
  });
  expect(await answer(refused, { adopt: "batch-7", by: "ann", id: "i" })).toMatchObject({ code: 0 });
  const gaveUp = await ask("invoice", `invoice:${(serial += 1)}`, "StepGaveUp", { detail: "d", restart });
  expect(await answer(gaveUp, { redrive: true, by: "ann", id: "i" })).toMatchObject({ code: 0 });
  expect(await pending()).toContain(`redrive:${gaveUp}`);
  const shown = await text((stdout) => opsShow({ environment: environment(), stdout, id: gaveUp }));
  expect(shown.written).toContain("It was answered.");
});

test("what only waits is listed, takes no answer and says why", async () => {
  const [waiting] = (await list()).filter(({ kind }) => kind === "message");
  expect(waiting).toMatchObject({ answers: [], ageMs: expect.any(Number) });
  expect(await answer(waiting!.id, { redrive: true, by: "ann", id: "w" })).toMatchObject({
    code: 1,
    written: expect.stringMatching(/^Refused: Nothing to answer: it is sent as soon as a relay runs/),
  });
});

test("the list for people shows age, evidence and answers", async () => {
  const question = await ask("invoice", `invoice:${(serial += 1)}`, "Cancelled", {
    detail: "stopped by hand",
  });
  const { code, written } = await text((stdout) => opsList({ environment: environment(), stdout }));
  expect(code).toBe(0);
  expect(written).toMatch(
    new RegExp(
      `${question}  invoice .*\\n    Cancelled, for 1 h 30 min\\n.*stopped by hand.*\\n    answers: adopt`,
    ),
  );
});

test.each([
  [{}, "An answer is one of --adopt REF, --absent and --redrive; it is none."],
  [{ absent: true, redrive: true }, "it is --absent and --redrive."],
  [{ absent: true }, "--by is missing"],
  [{ absent: true, by: " ", id: "i" }, '--by must be who answers, 1 to 200 characters; it is " ".'],
  [{ adopt: "", by: "a", id: "i" }, '--adopt must be a reference, 1 to 10000 characters; it is "".'],
])("flags %j are told as wrong, and nothing is answered", async (flags, message) => {
  await expect(answer("1", flags)).rejects.toThrow(message);
});

test("an id that is nothing's is refused; a ledger that can't be used is named", async () => {
  expect((await answer("999999", { absent: true, by: "a", id: "i" })).code).toBe(1);
  expect((await answer("0x1", { absent: true, by: "a", id: "i" })).written).toContain("Nothing waits under");
  const stdout = { write: () => undefined };
  await expect(opsList({ environment: {}, stdout })).rejects.toThrow(
    "LEDGER_URL must be the ledger's address",
  );
  await expect(
    opsList({ environment: { LEDGER_URL: "postgresql://a:secret@127.0.0.1:1/none" }, stdout }),
  ).rejects.toThrow(/LEDGER_URL: the ledger could not be used/);
});
