import { sql } from "kysely";
import { describe, expect, test } from "vitest";

import { operationStates, type OperationState } from "../../../../activities/operation/states.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();

type Row = Readonly<Record<string, string | number | null>>;

const at = "2026-01-01T00:00:00Z";
const sent = { submitted_at: at, submitted_epoch: 1 };
const refusal = { refusal_code: "no", refusal_detail: "no" };

/** A row of each state with what the state carries and nothing more. */
const whole: Record<OperationState, Row> = {
  intended: {},
  submitting: sent,
  unknown: sent,
  accepted: { ...sent, operation_url: "https://provider.example/1", poll_after_ms: 10 },
  refused: { ...sent, ...refusal },
  parked: { parked_reason: "cannot-be-asked" },
  confirmed: { receipt: "{}", outcome: "done" },
  "failed-at-provider": refusal,
};

let lastKey = 0;

async function insert(row: Row): Promise<void> {
  const all: Row = {
    key: `whole:${(lastKey += 1)}:post`,
    provider: "p",
    epoch: 1,
    try_number: 1,
    created_at: at,
    changed_at: at,
    ...row,
  };
  const columns = sql.join(Object.keys(all).map((name) => sql.ref(name)));
  await sql`insert into operations (${columns}) values (${sql.join(Object.values(all))})`.execute(
    database.ledger,
  );
}

const broken = { code: "23514" }; // check_violation

describe.each(operationStates)("a row that is %s", (state) => {
  const carries = Object.keys(whole[state]);

  test("is taken when it carries what it must", async () => {
    await expect(insert({ ...whole[state], state })).resolves.toBeUndefined();
  });

  test.skipIf(carries.length === 0).each(carries.map((name) => [name]))(
    "is refused without %s",
    async (name) => {
      await expect(insert({ ...whole[state], state, [name]: null })).rejects.toMatchObject(broken);
    },
  );

  test.runIf(state !== "parked")("is refused with a reason to be parked", async () => {
    await expect(insert({ ...whole[state], state, parked_reason: "x" })).rejects.toMatchObject(broken);
  });
});

const { intended, submitting } = whole;
test.each([
  ["intended that was sent", { ...sent, state: "intended" }],
  ["a time of submission without its epoch", { ...submitting, submitted_epoch: null, state: "submitting" }],
  ["an owner without a generation", { ...intended, owner_id: "o", state: "intended" }],
  ["a generation without an owner", { ...intended, generation: 1, state: "intended" }],
  ["a state that there isn't", { state: "lost" }],
  ["an outcome that there isn't", { ...whole.confirmed, outcome: "maybe", state: "confirmed" }],
  ["an epoch before the first", { epoch: 0, state: "intended" }],
  ["a try before the first", { try_number: 0, state: "intended" }],
] as const)("%s is refused", async (_, row) => {
  await expect(insert(row)).rejects.toMatchObject(broken);
});

test("the same holds for a change", async () => {
  await insert({ key: "whole:change:post", state: "intended" });
  const change = sql`update operations set state = 'confirmed' where key = 'whole:change:post'`;
  await expect(change.execute(database.ledger)).rejects.toMatchObject(broken);
});

test.each([
  ["number", 0],
  ["repair", -1],
  ["opened_for", "boredom"],
])("a try whose %s is %j is refused", async (name, value) => {
  const key = `whole:try-${name}:post`;
  await insert({ key, state: "intended" });
  const row: Row = {
    key,
    number: 1,
    provider_key: key,
    fingerprint: "f",
    projection_version: 1,
    repair: 0,
    opened_for: "first",
    opened_at: at,
    [name]: value,
  };
  const columns = sql.join(Object.keys(row).map((each) => sql.ref(each)));
  const statement = sql`insert into operation_tries (${columns}) values (${sql.join(Object.values(row))})`;
  await expect(statement.execute(database.ledger)).rejects.toMatchObject(broken);
});
