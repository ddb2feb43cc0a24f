/** What a fault may look like, and what is said of one that may not. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FaultBook } from "../../../services/world/faults/book.js";
import {
  carriesToken,
  faultKinds,
  faultSchema,
  operationsOf,
  operationsOfKind,
  systems,
  type Fault,
} from "../../../services/world/faults/fault.js";
import { fieldErrors, fieldErrorsText } from "../../../services/world/http/problem.js";

const complaint = (input: unknown) => {
  const result = faultSchema.safeParse(input);
  return result.success ? "accepted" : fieldErrorsText(fieldErrors(result.error.issues, input));
};

describe("a bad fault is refused with the field, the value and what is allowed", () => {
  const base = { run: "r1", system: "accounting" };
  test.each([
    [
      { ...base, kind: "quick" },
      'kind: must be one of slow, dropAnswer, unavailable, lateCommit, errorAfterCommit, exists, uniqueNumber, keysExpire, noKeys, noFind, lookupLag, refuse, got "quick"',
    ],
    [{ ...base, kind: "slow", ms: 0 }, "ms: must be at least 1 ms, got 0"],
    [{ ...base, kind: "slow", ms: 600_001 }, "ms: must be at most 600000 ms, got 600001"],
    [
      { ...base, kind: "slow", ms: "5" },
      'ms: must be a whole number of milliseconds from 1 to 600000, got "5"',
    ],
    [{ ...base, kind: "slow" }, "ms: must be a whole number of milliseconds from 1 to 600000, got null"],
    [{ ...base, kind: "slow", ms: 5, times: 0 }, "times: must be at least 1, got 0"],
    [{ ...base, kind: "slow", ms: 5, run: "a-b" }, 'run: must be 1 to 64 letters and digits, got "a-b"'],
    [
      { ...base, kind: "slow", ms: 5, system: "bank" },
      'system: must be one of accounting, documents, mail, got "bank"',
    ],
    [{ ...base, kind: "slow", ms: 5, seconds: 5 }, /seconds/],
    [
      { ...base, kind: "noFind", operation: "post" },
      'operation: for noFind at accounting must be find, got "post"',
    ],
    [
      { run: "r1", system: "documents", kind: "refuse", code: "x" },
      /system: documents can't have the fault refuse, which is for post, send/,
    ],
    [
      { ...base, kind: "refuse", code: "recipient-refused" },
      'code: must be one of the published codes of accounting: period-closed, supplier-blocked, account-missing, currency-not-kept, got "recipient-refused"',
    ],
    [
      { ...base, kind: "unavailable", status: 200 },
      "status: must be one of 401, 403, 404, 429, 500, 502, 503, 504, got 200",
    ],
    [null, /got null/],
    ["slow", /got "slow"/],
    [[], /must be an object whose kind is one of slow, .*, got \[\]/],
  ])("%j", (input, message) => {
    expect(complaint(input)).toMatch(message);
  });
});

test("every kind is accepted for every system and operation that it is for, and for no other", () => {
  const extra: Record<string, object> = {
    slow: { ms: 1 },
    lateCommit: { ms: 1 },
    keysExpire: { ms: 0 },
    lookupLag: { ms: 1 },
  };
  const codes: Record<string, string> = { accounting: "period-closed", mail: "sender-blocked" };
  for (const kind of faultKinds) {
    for (const system of systems) {
      for (const operation of ["post", "find", "fetch", "send"] as const) {
        const code = kind === "refuse" ? { code: codes[system] ?? "none" } : {};
        const fits =
          (operationsOf[system] as readonly string[]).includes(operation) &&
          (operationsOfKind[kind] as readonly string[]).includes(operation);
        const input = { kind, run: "r1", system, operation, ...extra[kind], ...code };
        expect(faultSchema.safeParse(input).success, JSON.stringify(input)).toBe(fits);
      }
    }
  }
});

test("whatever is told is either a fault or refused with words", () => {
  const scrap = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(...faultKinds, ...systems, "r1", "period-closed"),
    fc.integer(),
  );
  const nearly = fc.dictionary(
    fc.constantFrom(
      "kind",
      "run",
      "system",
      "operation",
      "times",
      "ms",
      "status",
      "code",
      "forMs",
      "amountMinor",
      "__proto__",
    ),
    scrap,
  );
  fc.assert(
    fc.property(fc.oneof(scrap, nearly), (input) => {
      expect(complaint(input)).toMatch(/^accepted$|^\S.*: .+, got /);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["r1", true],
  ["acme:INV-r1-3", true],
  ["r1:x", true],
  ["x/r1", true],
  ["r12", false],
  ["xr1", false],
  ["acme:R1", false],
  ["", false],
])("key %j carries the token r1: %s", (key, expected) => {
  expect(carriesToken(key, "r1")).toBe(expected);
});

describe("the book of faults", () => {
  const fault = (input: object) => faultSchema.parse({ run: "r1", system: "accounting", ...input });
  const post = { system: "accounting", operation: "post", key: "acme:r1" } as const;

  test("of each kind the one told first is taken, until it is used up", () => {
    const book = new FaultBook();
    book.tell(fault({ kind: "slow", ms: 1, times: 2 }));
    book.tell(fault({ kind: "slow", ms: 2 }));
    book.tell(fault({ kind: "dropAnswer", times: 1 }));
    const taken = () =>
      Object.values(book.take(post)).map((each: Fault) => ("ms" in each ? each.ms : each.kind));
    expect([taken(), taken(), taken()]).toEqual([[1, "dropAnswer"], [1], [2]]);
    expect(book.list("r1").map(({ fired, remaining }) => [fired, remaining])).toEqual([
      [2, 0],
      [1, null],
      [1, 0],
    ]);
  });

  test("touches no other run, system or operation", () => {
    const book = new FaultBook();
    book.tell(fault({ kind: "slow", ms: 1, operation: "find" }));
    expect(book.take(post)).toEqual({});
    expect(book.take({ ...post, operation: "find", key: "acme:r2" })).toEqual({});
    expect(book.take({ system: "mail", operation: "send", key: "acme:r1" })).toEqual({});
    expect(Object.keys(book.take({ ...post, operation: "find" }))).toEqual(["slow"]);
  });

  test("an outage for a time ends when it has passed, by the clock it is given", () => {
    let nowMs = 100;
    const book = new FaultBook(() => nowMs);
    book.tell(fault({ kind: "unavailable", forMs: 50 }));
    nowMs = 149;
    expect(Object.keys(book.take(post))).toEqual(["unavailable"]);
    nowMs = 150;
    expect(book.take(post)).toEqual({});
  });

  test("is repaired one by one or by run", () => {
    const book = new FaultBook();
    const { id } = book.tell(fault({ kind: "noKeys" }));
    book.tell(fault({ kind: "noFind", run: "r2" }));
    expect([book.remove(id), book.remove(id)]).toEqual([true, false]);
    expect([book.removeRun("r2"), book.removeRun("r2")]).toEqual([1, 0]);
    expect(book.list()).toEqual([]);
  });
});
