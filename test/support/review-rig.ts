/** Beside the invoice rig: the API that reviewers use, and a relay that tells the workflows what they decided. */
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterAll } from "vitest";
import { createWorkflowSender } from "../../adapters/temporal/workflow-sender.js";
import { submitter, type ApiUser } from "../../scenarios/invoice-approval/stories/approved.js";
import { buildApi, type Api } from "../../services/api/app.js";
import { callerDirectory, type Role } from "../../services/api/callers.js";
import { runRelay } from "../../services/relay/relay.js";
import { Bell } from "../../services/relay/wake.js";
import { patientPolicy, type InvoiceRig } from "./invoice-rig.js";

/** How often the relay looks; nothing notifies it here. */
const relayPollMs = 50;

export interface ReviewRig {
  /**
   * An API for the run's tenant, with a submitter and two reviewers. It is closed after the file's tests.
   *
   * @param taskQueue where the batches that are handed in are processed; default: nowhere
   */
  openApi(token: string, taskQueue?: string): Promise<Record<"ann" | "bob" | "submitter", ApiUser>>;
  /** Runs `work` while a relay sends what the ledger wants to be told. */
  withRelay<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Mails that the relay sent: recipient and message key. */
  readonly mails: readonly { readonly to: string; readonly key: string }[];
}

/** Call once at the top of a test file, after the invoice rig, whose database it uses. */
export function reviewRig(rig: InvoiceRig): ReviewRig {
  const apis: Api[] = [];
  const mails: { to: string; key: string }[] = [];
  afterAll(() => Promise.all(apis.map((api) => api.close())));

  return {
    mails,
    openApi: async (token, taskQueue = "nowhere") => {
      const keyOf = (id: string) => `${token}-${id}`;
      const caller = (id: string, ...roles: Role[]) => ({
        id,
        tenant: `${token}-tenant`,
        roles,
        keySha256: createHash("sha256").update(keyOf(id)).digest("hex"),
      });
      const api = await buildApi({
        ledger: rig.database.ledger,
        callers: callerDirectory([
          caller(submitter, "submitter", "reviewer"),
          caller("ann", "reviewer"),
          caller("bob", "reviewer"),
        ]),
        policy: patientPolicy.workflow,
        taskQueue,
        openBatchesMax: 4,
        logger: pino({ level: "silent" }),
      });
      apis.push(api);
      await api.listen({ host: "127.0.0.1", port: 0 });
      const baseUrl = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
      const user = (id: string) => ({ baseUrl, apiKey: keyOf(id) });
      return { ann: user("ann"), bob: user("bob"), submitter: user(submitter) };
    },
    withRelay: async (work) => {
      const stop = new AbortController();
      const running = runRelay(
        {
          ledger: rig.database.ledger,
          owner: "test-relay",
          leaseMs: 60_000,
          batchSize: 20,
          pollMs: relayPollMs,
          bell: new Bell(),
          sendToWorkflow: createWorkflowSender({ client: rig.client, timeoutMs: 30_000 }),
          sendMail: async ({ message, messageKey }) => {
            mails.push({ to: message.to, key: messageKey });
            return { delivery: "sent", outcome: {} };
          },
        },
        stop.signal,
      );
      try {
        return await work();
      } finally {
        stop.abort();
        await running;
      }
    },
  };
}
