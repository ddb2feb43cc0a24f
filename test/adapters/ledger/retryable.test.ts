import { describe, expect, test } from "vitest";

import {
  meaningOf,
  retryableCodes,
  retryableMessages,
  withRetry,
} from "../../../adapters/ledger/retryable.js";

/** What the driver throws for an answer of the server or of the operating system. */
const withCode = (code: string): Error => Object.assign(new Error(`code ${code}`), { code });
const deadlock = withCode("40P01");
/** An uncertain failure with the table's meaning but a short wait. */
const lost = (): Error => withCode("ECONNRESET");

describe("the table", () => {
  test.each(["40001", "40P01", "55P03", "57014", "25P03", "53300", "57P03", "ECONNREFUSED"])(
    "%s is known not to have written",
    (code) => expect(meaningOf(withCode(code))?.mayHaveHappened).toBe(false),
  );
  test.each(["57P01", "57P02", "08006", "08007", "40003", "ECONNRESET", "EPIPE", "ETIMEDOUT"])(
    "%s may have written",
    (code) => expect(meaningOf(withCode(code))?.mayHaveHappened).toBe(true),
  );
  test.each(["23505", "23514", "42P01", "42501", "22P02", "25P02", "28P01"])("%s is not retried", (code) =>
    expect(meaningOf(withCode(code))).toBeUndefined(),
  );
  test("failures without code are known by their message", () => {
    expect(meaningOf(new Error("Connection terminated unexpectedly"))?.mayHaveHappened).toBe(true);
    expect(meaningOf(new Error("timeout exceeded when trying to connect"))?.mayHaveHappened).toBe(false);
    expect(meaningOf(new Error("something else"))).toBeUndefined();
    expect(meaningOf("not an error")).toBeUndefined();
  });
  test("of several addresses' errors the worst counts", () => {
    const both = (...codes: string[]) => Object.assign(new Error(""), { errors: codes.map(withCode) });
    expect(meaningOf(both("ECONNREFUSED", "ECONNREFUSED"))?.mayHaveHappened).toBe(false);
    expect(meaningOf(both("ECONNREFUSED", "ECONNRESET"))?.mayHaveHappened).toBe(true);
    expect(meaningOf(both("ECONNREFUSED", "28P01"))).toBeUndefined();
  });
  test("each entry says what it means and waits", () => {
    for (const entry of [...Object.values(retryableCodes), ...Object.values(retryableMessages)]) {
      expect(entry.meaning).not.toBe("");
      expect(entry.delayMs).toBeGreaterThan(0);
    }
  });
});

describe("withRetry", () => {
  test("repeats a call that is known not to have written, without reading back", async () => {
    const calls: string[] = [];
    const result = await withRetry(
      async () => {
        calls.push("call");
        if (calls.length < 3) {
          throw deadlock;
        }
        return "written";
      },
      { readBack: () => Promise.reject(new Error("not asked for")) },
    );
    expect(result).toBe("written");
    expect(calls).toEqual(["call", "call", "call"]);
  });

  test("reads back after an uncertain failure and gives what it finds", async () => {
    const steps: string[] = [];
    const result = await withRetry(
      async () => {
        steps.push("call");
        throw lost();
      },
      {
        readBack: async () => {
          steps.push("read back");
          return "found";
        },
      },
    );
    expect(result).toBe("found");
    expect(steps).toEqual(["call", "read back"]);
  });

  test("doesn't repeat the call before the reading has succeeded", async () => {
    const steps: string[] = [];
    const result = await withRetry(
      async () => {
        steps.push("call");
        if (steps.length === 1) {
          throw lost();
        }
        return "written";
      },
      {
        readBack: async () => {
          steps.push("read back");
          if (steps.length === 2) {
            throw deadlock;
          }
          return undefined;
        },
      },
    );
    expect(result).toBe("written");
    expect(steps).toEqual(["call", "read back", "read back", "call"]);
  });

  test("gives up after its tries with the last failure, and at once for one that isn't in the table", async () => {
    const failures: number[] = [];
    await expect(
      withRetry(() => Promise.reject(deadlock), {
        readBack: "repeatable",
        attemptsMax: 3,
        onRetry: (_, attempt) => failures.push(attempt),
      }),
    ).rejects.toBe(deadlock);
    expect(failures).toEqual([1, 2]);

    const broken = withCode("23505");
    let calls = 0;
    const call = (): Promise<never> => {
      calls += 1;
      return Promise.reject(broken);
    };
    await expect(withRetry(call, { readBack: "repeatable" })).rejects.toBe(broken);
    expect(calls).toBe(1);
  });

  test("a signal ends the waiting with the failure", async () => {
    const ending = new AbortController();
    const failure = lost();
    const call = withRetry(() => Promise.reject(failure), {
      readBack: "repeatable",
      signal: ending.signal,
      onRetry: () => ending.abort(),
    });
    await expect(call).rejects.toBe(failure);
  });
});
