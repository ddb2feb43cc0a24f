/** Windows in which another end than "once" is right, with the reason. */
import type { Expectation } from "../../../crash-lab/lab-definition.js";

export const invoiceExpectations: readonly Expectation[] = [];
