/**
 * Windows in which another end than "once" is right, with the reason.
 *
 * Accounting without keys: the journal says that the posting may have been sent, accounting says that it isn't there,
 * and the sender was another process, of which nobody but the lab knows that it is dead. Sending again could post
 * twice, so a person is asked.
 */
import type { Expectation } from "../../../crash-lab/lab-definition.js";

const notProvedEnded =
  "recorded as submitted and absent at accounting, which keeps no keys: a sender that was only paused could still post";

export const invoiceExpectations: readonly Expectation[] = [
  // The statement that records the submission has taken effect, and nothing was sent.
  {
    window: /^unknown\/worker\/ledger\/insert%20operations%20[0-9a-f]+\/1\/after$/,
    verb: "kill",
    verdict: "parked",
    because: notProvedEnded,
  },
  {
    window: "unknown/worker/accounting/POST%20%2Fpostings/1/before",
    verb: "kill",
    verdict: "parked",
    because: notProvedEnded,
  },
];
