/** The world as a process of a run: what to spawn, and the addresses and secrets to use it with. */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { z } from "zod";
import type { ManagedProcess, ProcessSpec, Run } from "../../platform/index.js";
import { createWorldControl, type WorldControl } from "./control.js";
import { createWorldJournal, type WorldJournal } from "./journal.js";

export interface WorldProcessOptions {
  /** Of an empty database of its own, with a role that owns it and may create roles. */
  readonly databaseUrl: string;
  /** Files of this folder are the first documents, by file name. */
  readonly documentsFolder?: string;
}

export interface ProviderAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface RunningWorld {
  readonly process: ManagedProcess;
  readonly accounting: ProviderAddress;
  readonly documents: ProviderAddress;
  readonly mail: ProviderAddress;
  readonly control: WorldControl;
  readonly journal: WorldJournal;
}

const readySchema = z.object({
  ports: z.object({ accounting: z.int(), documents: z.int(), mail: z.int(), control: z.int() }),
});

/** Starts the world in the run, with new secrets. It ends with the run. */
export async function startWorldProcess(run: Run, options: WorldProcessOptions): Promise<RunningWorld> {
  const secrets = {
    WORLD_ACCOUNTING_API_KEY: secret(),
    WORLD_DOCUMENTS_API_KEY: secret(),
    WORLD_MAIL_API_KEY: secret(),
    WORLD_CONTROL_TOKEN: secret(),
    WORLD_JUDGE_TOKEN: secret(),
  };
  const spec: ProcessSpec = {
    name: "world",
    entry: "services/world/main.js",
    env: {
      WORLD_DATABASE_URL: options.databaseUrl,
      ...(options.documentsFolder === undefined
        ? {}
        : { WORLD_DOCUMENTS_FOLDER: resolve(options.documentsFolder) }),
      ...secrets,
    },
  };
  const process = await run.spawn(spec);
  const { ports } = readySchema.parse(process.ready);
  const baseUrl = (port: number) => `http://127.0.0.1:${port}`;
  const control = baseUrl(ports.control);
  return {
    process,
    accounting: { baseUrl: baseUrl(ports.accounting), apiKey: secrets.WORLD_ACCOUNTING_API_KEY },
    documents: { baseUrl: baseUrl(ports.documents), apiKey: secrets.WORLD_DOCUMENTS_API_KEY },
    mail: { baseUrl: baseUrl(ports.mail), apiKey: secrets.WORLD_MAIL_API_KEY },
    control: createWorldControl({ baseUrl: control, token: secrets.WORLD_CONTROL_TOKEN }),
    journal: createWorldJournal({ baseUrl: control, judgeToken: secrets.WORLD_JUDGE_TOKEN }),
  };
}

function secret(): string {
  return randomBytes(24).toString("hex");
}
