import type { JsonValue } from "./json.js";
import type { EffectProvider } from "./provider.js";

/** A provider's policy contradicts itself; a person has to correct the configuration. */
export class InvalidProviderPolicy extends Error {
  override readonly name = "InvalidProviderPolicy";
}

/** @throws `InvalidProviderPolicy` naming the field, its value and what is allowed. */
export function checkedPolicy<Request extends JsonValue, Receipt extends JsonValue>(
  provider: EffectProvider<Request, Receipt>,
): void {
  const { policy, name } = provider;
  const refuse = (field: string, value: unknown, allowed: string): never => {
    throw new InvalidProviderPolicy(`${name}: policy.${field} is ${String(value)}; allowed: ${allowed}.`);
  };
  if (policy.canFind !== (provider.find !== undefined)) {
    refuse("canFind", policy.canFind, "true exactly when the provider has a `find`");
  }
  if (!(policy.settleMs >= 0)) {
    refuse("settleMs", policy.settleMs, "0 or more milliseconds");
  }
  // Else nothing would ever settle before it is parked.
  if (!(policy.parkAfterMs > policy.settleMs)) {
    refuse("parkAfterMs", policy.parkAfterMs, `more than settleMs (${policy.settleMs})`);
  }
  if (policy.keysLiveForMs !== null && !(policy.keysLiveForMs > 0)) {
    refuse("keysLiveForMs", policy.keysLiveForMs, "null (for ever) or more than 0 milliseconds");
  }
}
