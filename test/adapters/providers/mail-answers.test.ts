import { describe, expect, test } from "vitest";
import { toAnswer } from "../../../adapters/providers/answers.js";
import { mailAnswers, sameMessage } from "../../../adapters/providers/mail/answers.js";
import { createMailProvider } from "../../../adapters/providers/index.js";
import type { Exchange } from "../../../adapters/providers/http.js";
import { problem, responded } from "../../support/exchange.js";

const request = {
  reference: "review:r1:reviewer-2",
  to: "anna@acme.example",
  subject: "Please review",
  text: "abc",
};
/** SHA-256 of "abc", as published with the algorithm. */
const textSha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const receipt = {
  messageReference: "MSG-1",
  reference: request.reference,
  to: request.to,
  subject: request.subject,
  textSha256,
};
const types = "https://mail.example/problems";

describe("what the mail system answers", () => {
  test.each([
    ["201 with a receipt", responded(201, { json: receipt }), { outcome: "done", receipt }],
    ["409 in progress", problem(409, `${types}/request-in-progress`), { outcome: "inProgress" }],
    ["409 other body", problem(409, `${types}/idempotency-key-reused`), { outcome: "conflict" }],
    [
      "422 recipient refused",
      problem(422, `${types}/refused`, { code: "recipient-refused" }),
      { outcome: "refused", code: "recipient-refused" },
    ],
    [
      "422 sender blocked",
      problem(422, `${types}/refused`, { code: "sender-blocked" }),
      { outcome: "refused", code: "sender-blocked" },
    ],
    [
      "422 with accounting's code",
      problem(422, `${types}/refused`, { code: "period-closed" }),
      { outcome: "unknown" },
    ],
    ["409 exists, which it never says", problem(409, "null"), { outcome: "unknown" }],
    ["409 without a problem", responded(409, { mediaType: "text/html" }), { outcome: "unknown" }],
    ["201 unreadable", responded(201, { json: { messageReference: "MSG-1" } }), { outcome: "unknown" }],
    ["401", responded(401), { outcome: "unknown" }],
    ["500", responded(500), { outcome: "unknown" }],
    ["reset", { kind: "noAnswer", reason: "connection", detail: "ECONNRESET" }, { outcome: "unknown" }],
  ] satisfies [string, Exchange, object][])("%s", (_name, exchange, expected) => {
    expect(toAnswer(exchange, mailAnswers, 0)).toMatchObject(expected);
  });
});

test("the same message: same reference, person and words", () => {
  expect(sameMessage(request, receipt)).toBe(true);
  expect(sameMessage(request, { ...receipt, messageReference: "MSG-2" })).toBe(true);
  expect(sameMessage({ ...request, text: "abd" }, receipt)).toBe(false);
  for (const change of [{ reference: "x" }, { to: "x@y" }, { subject: "x" }]) {
    expect(sameMessage(request, { ...receipt, ...change })).toBe(false);
  }
});

test("a policy that claims a lookup is refused", () => {
  const policy = { honoursKeys: true, keysLiveForMs: null, canFind: true, settleMs: 1, parkAfterMs: 1 };
  const options = { baseUrl: "http://127.0.0.1:1", apiKey: "k", timeoutMs: 1, policy };
  expect(() => createMailProvider(options)).toThrow("policy.canFind must be false for mail");
  expect(createMailProvider({ ...options, policy: { ...policy, canFind: false } })).not.toHaveProperty(
    "find",
  );
});
