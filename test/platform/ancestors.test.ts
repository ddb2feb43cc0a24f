import { expect, test } from "vitest";
import { launchersOf } from "../../platform/ancestors.js";
import type { ProcessRow } from "../../platform/process-table.js";

/** Commands from the main process upwards; the session of each, or 7. */
function chain(...commands: (string | [string, number])[]): number[] {
  const rows = commands.map((entry, index): ProcessRow => {
    const [command, session] = typeof entry === "string" ? [entry, 7] : entry;
    return { pid: 100 - index, parent: 99 - index, group: 1, session, startedAt: "0", command };
  });
  return launchersOf(100, (pid) => rows.find((row) => row.pid === pid)).map((row) => row.pid);
}

test("npm and the shell between are watched, the terminal's shell is not", () => {
  expect(chain("node main.js", "sh -c true && node main.js", "npm run demo", "bash")).toEqual([99, 98]);
});

test("the topmost npm counts when scripts call npm again", () => {
  const commands = [
    "node vitest",
    "sh -c vitest",
    "npm exec vitest run",
    "node scripts/test.mjs",
    "npm test",
    "zsh",
  ];
  expect(chain(...commands)).toEqual([99, 98, 97, 96]);
});

test("npm is known by its script before it names itself", () => {
  expect(chain("node main.js", "node /usr/lib/node_modules/npm/bin/npm-cli.js run demo")).toEqual([99]);
  expect(chain("node main.js", "node /usr/local/bin/npx killproof demo")).toEqual([99]);
});

test("without npm nothing is watched", () => {
  expect(chain("node main.js", "bash")).toEqual([]);
  expect(chain("node main.js", "node npm-like-tool.js")).toEqual([]);
});

test("an npm beyond the session launched something else", () => {
  expect(chain("node main.js", "bash", ["npm start", 3])).toEqual([]);
});
