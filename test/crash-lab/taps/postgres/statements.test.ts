import { beforeAll, describe, expect, it } from "vitest";
import {
  createStatementReader,
  type Statement,
  type StatementReader,
} from "../../../../crash-lab/taps/postgres/statements.js";
import { functionsOfCatalogue } from "../../../../crash-lab/taps/postgres/functions.js";

describe("what a statement does", () => {
  let reader: StatementReader;
  beforeAll(async () => {
    reader = await createStatementReader();
  });
  const only = (sql: string): Statement => {
    const statements = reader.read(sql);
    expect(statements).toHaveLength(1);
    return statements[0]!;
  };

  it.each([
    ["insert into a(b) values ($1)", "insert", "a"],
    ["update only s.t as q set a = 1", "update", "s.t"],
    ["delete from t where id = $1", "delete", "t"],
    ["merge into t using s on t.a = s.a when matched then delete", "merge", "t"],
    ["with x as (insert into a(b) values ($1) returning *) select * from x", "insert", "a"],
    [
      "select * from b where c in (select 1) union (with y as (delete from z returning 1) select * from y)",
      "delete",
      "z",
    ],
    ["select * into n from t", "select into", "n"],
    ["copy t(a, b) from stdin", "copy", "t"],
    ["copy (update t set a = 1 returning *) to stdout", "update", "t"],
    ["truncate a, b", "truncate", "a"],
    ["do $$ begin end $$", "do", ""],
    ["call p()", "call", ""],
    ["explain analyze delete from t", "delete", "t"],
    ["select setval('s', 1)", "call setval", ""],
    ["commit prepared 'x'", "commit prepared", ""],
    ["create table z(a int)", "create", "z"],
  ])("%s writes", (sql, verb, table) => {
    expect(only(sql)).toMatchObject({ writes: true, verb, table });
  });

  it.each([
    "select 1",
    "select * from updates where kind = 'insert into x' for update",
    "select nextval('s'), now(), lower($1)",
    "explain delete from t",
    "declare c cursor for select 1",
    "fetch 10 from c",
    "listen q",
    "notify q, 'x'",
    "set x = 1",
    "savepoint a",
    "rollback to a",
    "begin",
    "copy t to stdout",
    "deallocate all",
    "-- update t set a = 1\nselect 'delete from t'",
  ])("%s writes nothing", (sql) => {
    expect(only(sql).writes).toBe(false);
  });

  it("tells begin, commit and rollback from each other", () => {
    expect(
      reader.read("begin; commit; rollback; start transaction; end; abort").map(({ kind }) => kind),
    ).toEqual(["begin", "commit", "rollback", "begin", "commit", "rollback"]);
  });

  it("gives statements that differ only in constants, parameters and list lengths one fingerprint", () => {
    const fingerprints = [
      "update t set a = 1 where b in (1, 2)",
      "UPDATE t SET a=$3 WHERE b IN ($1,$2,$4)",
      "update t set a = 'x' where b in (9) -- note",
    ].map((sql) => only(sql).fingerprint);
    expect(new Set(fingerprints).size).toBe(1);
    expect(only("update t set c = 1 where b in (1, 2)").fingerprint).not.toBe(fingerprints[0]);
  });

  it("finds the text of each of several statements, also behind characters of several bytes", () => {
    const [first, second] = reader.read("select 'ä€𝄞'; insert into t values ('ü')");
    expect(first!.writes).toBe(false);
    expect(second).toMatchObject({
      writes: true,
      fingerprint: only("insert into t values ($1)").fingerprint,
    });
  });

  it("takes a text that it can't read for a write", () => {
    expect(only("frobnicate the table")).toMatchObject({ writes: true, verb: "unparsed" });
  });

  it("finds nothing in an empty text", () => {
    expect(reader.read(" -- nothing\n")).toEqual([]);
  });

  it("knows functions of the database from its catalogue", async () => {
    const knowledge = functionsOfCatalogue(
      [
        { name: "take_next", volatility: "v", language: "plpgsql", source: "begin update q set t = 1; end" },
        { name: "ledger_now", volatility: "v", language: "sql", source: "select clock_timestamp()" },
        { name: "touch", volatility: "v", language: "sql", source: "update q set t = 1" },
        { name: "looks", volatility: "s", language: "plpgsql", source: "begin return 1; end" },
      ],
      (sql) => reader.read(sql).some(({ writes }) => writes),
    );
    const informed = await createStatementReader(knowledge);
    const writes = (sql: string) => informed.read(sql)[0]!.writes;
    expect(writes("select * from take_next($1)")).toBe(true);
    expect(writes("select public.touch()")).toBe(true);
    expect(writes("select ledger_now()")).toBe(false);
    expect(writes("select looks()")).toBe(false);
  });
});
