/** Requests whose batch has ended without telling them: terminated, timed out, or forgotten by Temporal. */
import type { FailureName } from "../../failures/catalogue.js";
import type { JsonValue } from "../operation/json.js";
import type { OpenRequest, OpenRequests, Page, ProcessDirectory, Standing } from "./ports.js";
import { sweptPage, type SweptPage } from "./swept-page.js";

export interface RequestSweepDependencies {
  readonly requests: OpenRequests;
  readonly directory: ProcessDirectory;
}

export async function sweepRequests(dependencies: RequestSweepDependencies, page: Page): Promise<SweptPage> {
  const open = await dependencies.requests.page(page);
  let changed = 0;
  for (const request of open) {
    if (await endIfOver(dependencies, request)) changed += 1;
  }
  return sweptPage(changed, open.length < page.limit ? undefined : open.at(-1)?.requestId);
}

async function endIfOver(
  { requests, directory }: RequestSweepDependencies,
  request: OpenRequest,
): Promise<boolean> {
  const batch = await directory.look(request.workflowId);
  if (batch.standing === "running") return false;
  if (batch.standing === "ended" && batch.result !== undefined) {
    await requests.end(request.requestId, "completed", batch.result);
    return true;
  }
  const outcomes: JsonValue[] = [];
  for (const invoiceKey of request.invoiceKeys) {
    const outcome = outcomeOf(request, invoiceKey, await directory.look(`invoice:${invoiceKey}`));
    // It goes on without its batch, and holds the tenant's place as before.
    if (outcome === "running") return false;
    outcomes.push(outcome);
  }
  const failures = outcomes.filter((each) => (each as { outcome?: unknown }).outcome === "failed-visibly");
  await requests.end(request.requestId, "failed", {
    batchId: request.requestId,
    batchEnd: batch.standing === "ended" ? batch.status : "unknown",
    outcomes,
    failures: failures.length,
  });
  return true;
}

function outcomeOf({ requestId }: OpenRequest, invoiceKey: string, seen: Standing): JsonValue | "running" {
  const failedAs = (type: string, message: string) => ({
    outcome: "failed-visibly",
    invoiceKey,
    type,
    message,
  });
  const notBegun: FailureName = "InvoiceNotBegun";
  if (seen.standing === "unknown") {
    return failedAs(
      notBegun,
      "its batch ended before it began, or so long ago that Temporal has forgotten it",
    );
  }
  const batchId = batchIdIn(seen.start?.args);
  if (batchId !== requestId) {
    return failedAs(notBegun, `the process under its id is of the batch ${batchId ?? "unknown"}`);
  }
  if (seen.standing === "running") return "running";
  if (seen.result !== undefined) return seen.result;
  const { type, message } = seen.failure ?? { type: seen.status, message: "ended from outside" };
  return failedAs(type, message);
}

function batchIdIn(args: readonly unknown[] = []): string | undefined {
  return (args[0] as { readonly batchId?: string } | undefined)?.batchId;
}
