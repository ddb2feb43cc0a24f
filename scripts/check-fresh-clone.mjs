// Tries the project as a stranger gets it: a new clone in a folder that only its owner may enter, empty caches, the
// README's commands. Then it looks for what was left behind.
//
//   node scripts/check-fresh-clone.mjs                  the demo, as whoever calls it
//   node scripts/check-fresh-clone.mjs --user games     as another account (only root can do that)
//   node scripts/check-fresh-clone.mjs --kill main      SIGKILL to the demo's main process half-way, then once more
//   node scripts/check-fresh-clone.mjs --kill npm       the same with npm
//   node scripts/check-fresh-clone.mjs --kill build     SIGKILL to npm while the project is being compiled
//   node scripts/check-fresh-clone.mjs --kill test      SIGKILL to the npm of `npm test` while its servers run
//   node scripts/check-fresh-clone.mjs --twice          two clones at once
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    user: { type: "string" },
    kill: { type: "string" },
    twice: { type: "boolean", default: false },
  },
});
if (values.kill !== undefined && !["main", "npm", "build", "test"].includes(values.kill))
  throw new Error(`--kill ${values.kill}: allowed are main, npm, build, test`);

/** Everything of a killed run must be gone this soon. */
const goneWithinMs = 10_000;
const project = join(import.meta.dirname, "..");
const account = values.user === undefined ? undefined : accountOf(values.user);

function accountOf(user) {
  const id = (what) => Number(execFileSync("id", [what, user], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function freshClone() {
  const folder = mkdtempSync(join(tmpdir(), "killproof-fresh-"));
  chmodSync(folder, 0o700);
  execFileSync("git", ["clone", "--quiet", project, join(folder, "killproof")], { stdio: "inherit" });
  for (const name of ["cache", "home", "tmp"]) mkdirSync(join(folder, name));
  if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
  if (account) chownSync(folder, account.uid, account.gid);
  return folder;
}

const environmentOf = (folder) => ({
  ...process.env,
  HOME: join(folder, "home"),
  TMPDIR: join(folder, "tmp"),
  XDG_CACHE_HOME: join(folder, "cache"),
});

function start(folder, command, onLine = () => undefined) {
  const child = spawn(command[0], command.slice(1), {
    cwd: join(folder, "killproof"),
    env: environmentOf(folder),
    stdio: ["ignore", "pipe", "inherit"],
    ...account,
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      process.stdout.write(`  ${text.slice(0, end)}\n`);
      onLine(text.slice(0, end), child);
      text = text.slice(end + 1);
    }
  });
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
}

/** Processes that run in the folder or were started with it in their arguments. */
function processesOf(folder) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const read = (act) => {
        try {
          return act();
        } catch {
          return "";
        }
      };
      const args = read(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      const cwd = read(() => readlinkSync(`/proc/${pid}/cwd`));
      return args !== "" && (args.includes(folder) || cwd.startsWith(folder));
    });
}

function requireNothingLeft(folder) {
  const processes = processesOf(folder);
  if (processes.length > 0) throw new Error(`still running: ${processes.join(", ")}`);
  const runs = join(folder, "killproof", ".killproof");
  const left = [
    ...readdirSync(join(folder, "tmp")).map((name) => `tmp/${name}`),
    // npm's own folder and pip's are theirs to keep; the project writes nothing at home.
    ...readdirSync(join(folder, "home"), { recursive: true }).map((name) => `home/${name}`),
    ...listOf(runs),
  ];
  const git = execFileSync("git", ["-c", "safe.directory=*", "status", "--short"], {
    cwd: join(folder, "killproof"),
    encoding: "utf8",
  });
  // Node's compile cache and npm's folder are not ours, nor the one that vitest names by 21 random characters.
  const ours = left.filter(
    (name) => !/node-compile-cache|^tmp\/npm-|^tmp\/[\w-]{21}$|^home\/\.npm\b|^home\/\.rustup\b/.test(name),
  );
  if (ours.length > 0 || git !== "") throw new Error(`left behind: ${[...ours, git].join(" ")}`);
}

function listOf(folder) {
  try {
    return readdirSync(folder).map((name) => `.killproof/${name}`);
  } catch {
    return [];
  }
}

function requireExit(what, exit, code) {
  if (exit.code !== code) throw new Error(`${what} ended with ${exit.code ?? exit.signal}, not ${code}`);
}

const demo = ["npm", "run", "demo"];

async function undisturbed(folder) {
  requireExit("npm ci", await start(folder, ["npm", "ci"]), 0);
  requireExit("npm run demo", await start(folder, demo), 0);
  requireNothingLeft(folder);
}

async function whenCompiling(folder) {
  const compiler = join(folder, "killproof", "node_modules", "typescript");
  while (processesOf(compiler).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function killed(folder) {
  let main;
  let killedAt;
  const kill = (pid) => {
    killedAt = Date.now();
    process.kill(pid, "SIGKILL");
  };
  if (values.kill === "test") {
    await start(folder, ["npm", "test"], (line, npm) => {
      // The first test that passed with a database has its servers running.
      if (killedAt === undefined && /✓.*postgres/.test(line)) kill(npm.pid);
    });
  } else if (values.kill === "build") {
    rmSync(join(folder, "killproof", "dist"), { recursive: true });
    await start(folder, demo, (line, npm) => {
      // npm's own line about the script; its shell starts at that moment, and the compiler takes seconds.
      if (killedAt !== undefined || !line.includes("start.mjs")) return;
      whenCompiling(folder).then(() => kill(npm.pid));
    });
  } else {
    await start(folder, demo, (line, npm) => {
      main ??= /^This is process (\d+)/.exec(line)?.[1];
      if (killedAt === undefined && line.includes("takes the invoice"))
        kill(values.kill === "npm" ? npm.pid : Number(main));
    });
  }
  if (killedAt === undefined) throw new Error(`it ended before there was a moment to kill ${values.kill}`);
  while (processesOf(folder).length > 0 && Date.now() - killedAt < goneWithinMs)
    await new Promise((resolve) => setTimeout(resolve, 50));
  requireNothingLeft(folder);
  process.stdout.write(`SIGKILL to ${values.kill}: everything gone after ${Date.now() - killedAt} ms\n`);
  requireExit("the next demo", await start(folder, demo), 0);
  requireNothingLeft(folder);
}

const folders = values.twice ? [freshClone(), freshClone()] : [freshClone()];
try {
  await Promise.all(folders.map(undisturbed));
  if (values.kill !== undefined) for (const folder of folders) await killed(folder);
  process.stdout.write("fresh clone: fine, nothing left\n");
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
