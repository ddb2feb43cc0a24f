import { z } from "zod";

import type { JsonValue } from "../../../activities/operation/json.js";

const askedFor = z.object({
  request: z.object({
    invoiceKey: z.string(),
    revision: z.int(),
    currency: z.string(),
    amountMinor: z.int(),
    payloadDigest: z.string(),
  }),
});

/**
 * The receipt of a posting that a person found under a reference. It says that what stands there is what was asked
 * for, which is what the person vouches for; a whole receipt, as JSON, is taken as it is.
 *
 * @returns `undefined` when the question's evidence doesn't hold what was asked for
 */
export function receiptFor(reference: string, evidence: unknown): JsonValue | undefined {
  if (reference.startsWith("{")) return jsonOf(reference);
  const parsed = askedFor.safeParse(evidence);
  return parsed.success ? { entryReference: reference, ...parsed.data.request } : undefined;
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
