/** Hints that name nothing of ours: never trusted, never fatal, and kept so that their sender can be found. */
import { ActivityFailure, CancellationScope, log } from "@temporalio/workflow";
import type { InvoiceSteps } from "./steps.js";

/** Beyond this many only the log tells of them: whoever floods a process must not fill its history. */
const recordedMax = 100;
/** Longer than any name of ours; what is cut off helps nobody. */
const contentCharactersMax = 500;

export class IgnoredHints {
  private recorded = 0;

  constructor(
    private readonly processingId: string,
    private readonly steps: InvoiceSteps,
  ) {}

  /** @param hint whatever came */
  async record(signal: string, hint: unknown): Promise<void> {
    log.warn("A hint that names nothing of this process was ignored.", { signal });
    if (this.recorded >= recordedMax) return;
    this.recorded += 1;
    // As JSON text: it may hold what the ledger's columns can't.
    const content = (JSON.stringify(hint) ?? "nothing").slice(0, contentCharactersMax);
    const { processingId } = this;
    try {
      await CancellationScope.nonCancellable(() =>
        this.steps.recordIgnoredHint({ processingId, signal, content }),
      );
    } catch (error) {
      // A handler that throws would end the process, which a stranger's hint must not.
      if (!(error instanceof ActivityFailure)) throw error;
      log.error("An ignored hint could not be recorded.", { signal, error });
    }
  }
}
