import fc from "fast-check";
import { expect, test } from "vitest";
import { batchIdOf } from "../../../services/api/batch-id.js";
import { keyPattern } from "../../../workflows/invoice-approval/limits.js";

const digest = /^[0-9a-f]{64}$/;

test("a batch is called after its caller and their key", () => {
  expect(batchIdOf("sue", "2026-03")).toBe("sue~2026-03");
});

test("what can't stand in an id, or is too long for one, becomes a digest", () => {
  expect(batchIdOf("sue", "a:b")).toMatch(digest);
  expect(batchIdOf("sue", "k".repeat(61))).toMatch(digest);
  expect(batchIdOf("sue", "k".repeat(60))).toHaveLength(64);
});

test("a caller whose name holds the separator never gets another caller's id", () => {
  expect(batchIdOf("sue", "ann~1")).toBe("sue~ann~1");
  expect(batchIdOf("sue~ann", "1")).toMatch(digest);
});

test("different callers or keys never share an id, and each can stand in a workflow's", () => {
  const name = fc.stringMatching(/^[A-Za-z0-9._~@+=-]{1,20}$/);
  const key = fc.stringMatching(/^[!-~]{1,80}$/);
  fc.assert(
    fc.property(name, key, name, key, (caller, mine, other, theirs) => {
      const [one, two] = [batchIdOf(caller, mine), batchIdOf(other, theirs)];
      expect(one).toMatch(keyPattern);
      expect(one === two).toBe(caller === other && mine === theirs);
    }),
  );
});
