import type { Answer, EffectProvider } from "../../../activities/operation/provider.js";
import type { Payment, PaymentReceipt } from "./provider-model.js";

/** A payment provider over HTTP that honours keys for ever. */
export function httpPayments(url: string): EffectProvider<Payment, PaymentReceipt> {
  return {
    name: "payments",
    policy: { honoursKeys: true, keysLiveForMs: null, canFind: false, settleMs: 1_000, parkAfterMs: 60_000 },
    async send(request, { providerKey, signal }): Promise<Answer<PaymentReceipt>> {
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": providerKey },
          body: JSON.stringify(request),
          signal,
        });
        return response.status === 201
          ? { outcome: "done", receipt: (await response.json()) as PaymentReceipt }
          : { outcome: "unknown", cause: String(response.status), retryAfterMs: 20 };
      } catch (error) {
        return { outcome: "unknown", cause: String(error), retryAfterMs: 20 };
      }
    },
    sameEffect: (request, receipt) =>
      request.reference === receipt.reference && request.amountMinor === receipt.amountMinor,
  };
}
