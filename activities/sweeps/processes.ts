import type { Page, ProcessDirectory, UnfinishedProcesses } from "./ports.js";
import { sweptPage, type SweptPage } from "./swept-page.js";

export interface ProcessSweepDependencies {
  readonly processes: UnfinishedProcesses;
  readonly directory: ProcessDirectory;
}

export async function sweepProcesses(
  { processes, directory }: ProcessSweepDependencies,
  page: Page,
): Promise<SweptPage> {
  const unfinished = await processes.page(page);
  let changed = 0;
  for (const process of unfinished) {
    const seen = await directory.look(process.workflowId);
    if (seen.standing === "running") continue;
    await processes.report({
      ...process,
      status: seen.standing === "ended" ? seen.status : "unknown",
      // Another batch's process may have had the id since; starting that one again would help nobody.
      ...(seen.standing === "ended" && seen.start !== undefined && isOf(process.processingId, seen.start.args)
        ? { start: seen.start }
        : {}),
    });
    changed += 1;
  }
  return sweptPage(changed, unfinished.length < page.limit ? undefined : unfinished.at(-1)?.processingId);
}

function isOf(processingId: string, [job]: readonly unknown[]): boolean {
  const { batchId, invoice } = (job ?? {}) as {
    readonly batchId?: string;
    readonly invoice?: { readonly invoiceKey?: string };
  };
  return processingId === `${batchId}:${invoice?.invoiceKey}`;
}
