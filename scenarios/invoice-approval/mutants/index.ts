/** The invoice process with one protection less, each a program of its own in the place of one of its processes. */
import type { Mutant } from "../../../crash-lab/mutants/gate.js";

const workerMutants = [
  "no-key",
  "attempt-in-key",
  "key-from-clock",
  "recorded-before-effect",
  "retry-taken-for-failure",
  "claim-by-attempt",
] as const;

export const invoiceMutants: readonly Mutant[] = workerMutants.map((name) => ({
  name,
  process: "worker",
  entry: `scenarios/invoice-approval/mutants/${name}.js`,
}));
