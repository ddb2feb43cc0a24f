import { describe, expect, test } from "vitest";
import {
  describeExchange,
  readProblem,
  retryAfterMs,
  retryAfterMsMax,
} from "../../../adapters/providers/wire.js";
import type { Response } from "../../../adapters/providers/wire.js";
import { problem, responded } from "../../support/exchange.js";

const now = Date.UTC(2026, 0, 1);

describe("Retry-After", () => {
  test.each([
    [null, undefined],
    ["", undefined],
    ["0", 0],
    ["3", 3_000],
    [" 3 ", 3_000],
    ["-3", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["2026", 2_026_000],
    ["99999999999999999999", retryAfterMsMax],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5_000],
    ["Thu, 01 Jan 2026 09:00:00 GMT", retryAfterMsMax],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
    ["Thu, 99 Jan 2026 00:00:05 GMT", undefined],
  ])("%o", (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});

test("a problem counts only under its own media type", () => {
  const body = { json: { type: "about:blank" } };
  const read = (mediaType: string | null) => readProblem(responded(409, { ...body, mediaType }) as Response);
  expect(read("application/problem+json")).toEqual({ type: "about:blank" });
  expect(read("Application/Problem+JSON;charset=utf-8")).toEqual({ type: "about:blank" });
  expect(read("application/json")).toBeUndefined();
  expect(read(null)).toBeUndefined();
});

test("an exchange in a few words", () => {
  expect(describeExchange(problem(422, "https://x.example/refused", { code: "c" }))).toBe(
    "status 422 https://x.example/refused (c)",
  );
  expect(describeExchange({ kind: "noAnswer", reason: "timeout", detail: "no answer within 5 ms" })).toBe(
    "timeout: no answer within 5 ms",
  );
});
