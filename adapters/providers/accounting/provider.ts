/** Accounting over HTTP. */
import type { ProviderPolicy } from "../../../activities/operation/provider.js";
import type { Accounting } from "../../../activities/ports.js";
import { toAnswer } from "../answers.js";
import { createHttpClient, type HttpClientOptions } from "../http.js";
import { accountingAnswers, samePosting, toFound } from "./answers.js";

export interface AccountingOptions extends HttpClientOptions {
  /** How this installation of the system behaves; `find` exists only when `canFind` says so. */
  readonly policy: ProviderPolicy;
}

/** @throws TypeError for options that can't be used; see {@link createHttpClient}. */
export function createAccountingProvider({ policy, ...http }: AccountingOptions): Accounting {
  const client = createHttpClient(http);
  const provider: Accounting = {
    name: "accounting",
    policy,
    send: async (request, { providerKey, signal }) => {
      const headers = { "idempotency-key": providerKey };
      const exchange = await client.exchange(
        { method: "POST", path: "/postings", headers, json: request },
        signal,
      );
      return toAnswer(exchange, accountingAnswers, Date.now());
    },
    sameEffect: samePosting,
  };
  if (!policy.canFind) return provider;
  return {
    ...provider,
    find: async ({ invoiceKey }, { signal }) => {
      const path = `/postings?${new URLSearchParams({ invoiceKey })}`;
      return toFound(await client.exchange({ method: "GET", path }, signal), Date.now());
    },
  };
}
