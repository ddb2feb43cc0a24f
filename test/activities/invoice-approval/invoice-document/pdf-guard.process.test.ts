import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { guardReasons } from "../../../../activities/invoice-approval/invoice-document/pdf-content.js";

const script = "dist/activities/invoice-approval/invoice-document/pdf-process.js";

/** Starts the PDF process on its own standard input, which nobody closes here, and waits for ever. */
const parent = `
  const { spawn } = require("node:child_process");
  spawn(process.execPath, ["${script}", String(process.pid)], { stdio: ["inherit", "inherit", "inherit"] })
    .once("spawn", () => console.log("started"));
  setInterval(() => {}, 1_000_000);
`;

test("ends when the process that waits for it is killed, though it could go on", async () => {
  const waiting = spawn(process.execPath, ["--eval", parent], { stdio: ["pipe", "pipe", "pipe"] });
  await once(waiting.stdout, "data");
  waiting.kill("SIGKILL");
  // The end of this stream is the end of the last process that could write to it.
  expect(await text(waiting.stderr)).toContain(guardReasons.abandoned);
  waiting.stdin.destroy();
});
