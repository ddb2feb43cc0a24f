/**
 * Whether work grows with its input or with its square. Computing time of the process is compared with itself, so that
 * neither a slow nor a busy machine decides.
 */
import { InvalidDocument } from "../../activities/invoice-approval/invoice-document/invalid-document.js";

/** Below it, a ratio says more about the compiler and the collector than about the input. */
const leastCostMs = 50;

/** How often as much four times the input costs: about 4 for linear work, 16 for quadratic. A refusal counts as work done. */
export function costOfFourfold(work: (times: number) => unknown, times: number): number {
  return (
    costMs(() => work(4 * times)) /
    Math.max(
      costMs(() => work(times)),
      leastCostMs,
    )
  );
}

function costMs(work: () => unknown): number {
  const before = process.cpuUsage();
  try {
    work();
  } catch (error) {
    if (!(error instanceof InvalidDocument)) throw error;
  }
  return process.cpuUsage(before).user / 1_000;
}
