import { pino } from "pino";
import { expect, test } from "vitest";
import { errorForLog } from "../../services/error-log.js";

/** The line that a process writes for this error. */
function logged(error: unknown): string {
  let written = "";
  const sink = { write: (line: string) => void (written += line) };
  pino({ serializers: { err: errorForLog } }, sink).error({ err: error }, "failed");
  return written;
}

test("an error is logged with its cause and its code, and with nothing that a library hung onto it", () => {
  const error = Object.assign(new Error("no answer", { cause: new TypeError("reset") }), {
    code: "ECONNRESET",
    address: "127.0.0.1",
    client: { password: "hidden" },
    detail: "Key (number)=(hidden) already exists.",
    config: { headers: { authorization: "Bearer hidden" } },
  });
  const line = JSON.parse(logged(error)) as { err: unknown };
  expect(line.err).toEqual({
    type: "Error",
    message: "no answer",
    stack: expect.stringContaining("error-log.test") as unknown,
    code: "ECONNRESET",
    address: "127.0.0.1",
    cause: expect.objectContaining({ type: "TypeError", message: "reset" }) as unknown,
  });
  expect(logged(error)).not.toContain("hidden");
});

test("each error of several is logged", () => {
  const several = new AggregateError([new Error("one"), new Error("two")], "both");
  expect(logged(several)).toMatch(/"both".*"one".*"two"/);
});

test("what is no error is logged as it reads, and a circle of causes ends", () => {
  expect(JSON.parse(logged("text"))).toMatchObject({ err: { type: "string", message: "text" } });
  const circle = new Error("round");
  circle.cause = circle;
  expect(logged(circle).match(/"round"/g)).toHaveLength(4);
});
