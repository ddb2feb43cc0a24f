/**
 * A child that starts a grandchild in a session of its own, as Postgres does, and says so.
 * CHILD_IGNORES_SIGTERM: it doesn't drain. CHILD_FAILS: it ends with an error before it is ready.
 */
import { spawn } from "node:child_process";

if (process.env["CHILD_IGNORES_SIGTERM"]) process.on("SIGTERM", () => undefined);
if (process.env["CHILD_FAILS"]) {
  process.stderr.write("first line\nthe reason why it fails\n");
  process.exit(3);
}
const grandchild = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
grandchild.unref();
process.stdout.write("not the ready line\n");
process.stdout.write(`${JSON.stringify({ event: "ready", grandchild: grandchild.pid })}\n`);
setInterval(() => undefined, 60_000);
