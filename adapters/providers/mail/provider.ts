/** Mail over HTTP. The system can't be asked what it sent, so there is no `find`. */
import type { ProviderPolicy } from "../../../activities/operation/provider.js";
import type { Mail } from "../../../activities/ports.js";
import { toAnswer } from "../answers.js";
import { createHttpClient, type HttpClientOptions } from "../http.js";
import { mailAnswers, sameMessage } from "./answers.js";

export interface MailOptions extends HttpClientOptions {
  /** `canFind` must be false. */
  readonly policy: ProviderPolicy;
}

/** @throws TypeError for options that can't be used, a policy that claims a lookup among them. */
export function createMailProvider({ policy, ...http }: MailOptions): Mail {
  if (policy.canFind)
    throw new TypeError("policy.canFind must be false for mail: the system has no lookup, got true");
  const client = createHttpClient(http);
  return {
    name: "mail",
    policy,
    send: async (request, { providerKey, signal }) => {
      const headers = { "idempotency-key": providerKey };
      const exchange = await client.exchange(
        { method: "POST", path: "/messages", headers, json: request },
        signal,
      );
      return toAnswer(exchange, mailAnswers, Date.now());
    },
    sameEffect: sameMessage,
  };
}
