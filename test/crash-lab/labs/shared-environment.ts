/** One environment for several labs in a test file: what is outside the processes under test starts only once. */
import type { CrashLabDefinition } from "../../../crash-lab/lab-definition.js";
import { runCrashLab, type LabOptions, type LabResult } from "../../../crash-lab/run/run-crash-lab.js";
import { openRun, type Run } from "../../../platform/index.js";
import {
  startInvoiceEnvironment,
  type InvoiceEnvironment,
  type InvoiceEnvironmentOptions,
} from "../../../scenarios/invoice-approval/environment.js";

export type InvoiceLab = CrashLabDefinition<InvoiceEnvironment>;

export interface SharedEnvironment {
  readonly run: Run;
  readonly environment: InvoiceEnvironment;
  /** Runs a lab of its own processes around the shared environment. */
  play(lab: InvoiceLab, options: Partial<LabOptions>): Promise<LabResult>;
  close(): Promise<void>;
}

export async function openSharedEnvironment(
  name: string,
  options: InvoiceEnvironmentOptions = {},
): Promise<SharedEnvironment> {
  const run = await openRun({ name, handleSignals: false });
  const environment = await startInvoiceEnvironment(run, options).catch(async (error: unknown) => {
    await run.close();
    throw error;
  });
  return {
    run,
    environment,
    play: (lab, labOptions) =>
      runCrashLab(
        { ...lab, environment: async () => environment },
        // What these tests are about shows in the shortest story as well as in all of them.
        { version: "test", verbs: ["kill"], handleSignals: false, stories: ["automatic"], ...labOptions },
      ),
    close: () => run.close(),
  };
}

export const windows = {
  afterPosting: "automatic/worker/accounting/POST%20%2Fpostings/1/after",
  beforePosting: "automatic/worker/accounting/POST%20%2Fpostings/1/before",
  beforePostingIsReported:
    "automatic/worker/temporal/RespondActivityTaskCompleted%3AprocessInvoice%3ApostInvoice/1/before",
  afterPostingIsReported:
    "automatic/worker/temporal/RespondActivityTaskCompleted%3AprocessInvoice%3ApostInvoice/1/after",
  afterReading:
    "automatic/worker/temporal/RespondActivityTaskCompleted%3AprocessInvoice%3AextractInvoice/1/after",
} as const;

/** The same lab with its worker started otherwise. */
export function withWorker(
  lab: InvoiceLab,
  change: (
    spec: ReturnType<InvoiceLab["processes"][string]>,
    environment: InvoiceEnvironment,
  ) => ReturnType<InvoiceLab["processes"][string]>,
): InvoiceLab {
  return {
    ...lab,
    processes: {
      ...lab.processes,
      worker: (environment, peers, asked) =>
        change(lab.processes["worker"]!(environment, peers, asked), environment),
    },
  };
}
