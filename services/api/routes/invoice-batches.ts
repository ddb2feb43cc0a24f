/** Batches of invoices: admit one, see how it stands. */
import { z } from "zod";
import { readRequest } from "../../../adapters/ledger/requests/read-request.js";
import { batchSizeMax, keyPattern } from "../../../workflows/invoice-approval/limits.js";
import { admitBatch, invoiceBatchKind } from "../admit-batch.js";
import type { Api, ApiDependencies } from "../app.js";
import { batchIdOf } from "../batch-id.js";
import { callerOf, requireOwnTenant } from "../authorisation.js";
import { ApiProblem, problemResponses } from "../problems.js";

const keyText = "must be 1 to 100 of letters, digits and . _ ~ @ + = -";
const invoiceKey = z.string(keyText).regex(keyPattern, keyText);
const documentText = "must be 1 to 200 of letters, digits and . _ ~ @ + = -";
const documentId = z.string(documentText).regex(/^[A-Za-z0-9._~@+=-]{1,200}$/, documentText);
/** The largest that the ledger's columns hold. */
const revisionMax = 2_147_483_647;
const revisionText = `must be a whole number from 1 to ${revisionMax}`;
export const revisionSchema = z.int(revisionText).min(1, revisionText).max(revisionMax, revisionText);

const invoiceSchema = z.strictObject({
  invoiceKey: invoiceKey.meta({ description: "What the business calls the invoice; unique across tenants." }),
  documentId: documentId.meta({ description: "The file in the document store." }),
  revision: revisionSchema.default(1).meta({ description: "1 at first, raised by each correction." }),
});

const bodySchema = z
  .strictObject({
    invoices: z
      .array(invoiceSchema, "must be a list of invoices")
      .min(1, { error: sizeText })
      .max(batchSizeMax, { error: sizeText })
      .superRefine((invoices, context) => {
        const keys = invoices.map((invoice) => invoice.invoiceKey);
        for (const [index, key] of keys.entries()) {
          if (keys.indexOf(key) !== index) {
            const path = [index, "invoiceKey"];
            context.addIssue({ code: "custom", path, message: "must not occur twice in a batch" });
          }
        }
      }),
  })
  .meta({ description: "One to eight invoices, each key once." });

/** Names the keys that are too many; a client that pages its input sees where to cut. */
function sizeText(issue: { readonly input?: unknown }): string {
  const invoices = Array.isArray(issue.input) ? (issue.input as { invoiceKey?: unknown }[]) : [];
  const beyond = invoices.slice(batchSizeMax, batchSizeMax * 2).map((invoice) => String(invoice?.invoiceKey));
  const named =
    beyond.length === 0 ? "" : `, too many from ${beyond.map((key) => key.slice(0, 100)).join(", ")} on`;
  return `must hold 1 to ${batchSizeMax} invoices, holds ${invoices.length}${named}`;
}

const idempotencyText = "must be 1 to 200 printable characters without spaces";
const headersSchema = z.looseObject({
  "idempotency-key": z
    .string(idempotencyText)
    .regex(/^[!-~]{1,200}$/, idempotencyText)
    .meta({ description: "The same key and body give the same batch, however often they are sent." }),
});

const stateSchema = z.enum(["admitted", "running", "parked", "completed", "failed"]);

const admittedSchema = z.object({
  batchId: z.string(),
  state: stateSchema,
  statusUrl: z.string(),
  fingerprint: z.string().meta({ description: "SHA-256 of the canonical JSON of the body." }),
});

const batchSchema = z.object({
  batchId: z.string(),
  tenant: z.string(),
  state: stateSchema,
  invoices: z.array(z.object({ invoiceKey: z.string(), documentId: z.string(), revision: z.number() })),
  admittedAt: z.iso.datetime(),
  stateChangedAt: z.iso.datetime(),
  result: z
    .looseObject({
      outcomes: z.array(z.looseObject({ outcome: z.string(), invoiceKey: z.string() })),
      failures: z.number(),
    })
    .nullable()
    .meta({ description: "How each invoice ended, in the batch's order; null until all have." }),
});

const security = [{ apiKey: [] }];

export function registerInvoiceBatches(app: Pick<Api, "route">, dependencies: ApiDependencies): void {
  registerAdmission(app, dependencies);
  registerStatus(app, dependencies);
}

function registerAdmission(app: Pick<Api, "route">, dependencies: ApiDependencies): void {
  const { ledger, callers, policy, taskQueue, openBatchesMax } = dependencies;
  app.route({
    method: "POST",
    url: "/api/invoice-batches",
    config: { roles: ["submitter"] },
    schema: {
      summary: "Hand in a batch. It is processed whatever becomes of this connection.",
      security,
      headers: headersSchema,
      body: bodySchema,
      response: {
        202: admittedSchema,
        ...problemResponses(
          "InvalidRequest",
          "Unauthenticated",
          "NotAllowed",
          "IdempotencyKeyReused",
          "BodyTooLarge",
          "UnsupportedMediaType",
          "TooManyOpenBatches",
          "LedgerUnavailable",
        ),
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const { invoices } = request.body;
      const idempotencyKey = request.headers["idempotency-key"];
      const batchId = batchIdOf(caller.id, idempotencyKey);
      const admitted = await admitBatch(ledger, {
        caller,
        idempotencyKey,
        invoices,
        batch: {
          batchId,
          tenant: caller.tenant,
          invoices,
          policy,
          admission: {
            requestId: batchId,
            submittedBy: caller.id,
            reviewerMails: callers.reviewerMails(caller.tenant, caller.id),
          },
        },
        taskQueue,
        openBatchesMax,
      });
      const statusUrl = `/api/invoice-batches/${admitted.requestId}`;
      return reply
        .code(202)
        .header("Location", statusUrl)
        .send({
          batchId: admitted.requestId,
          state: admitted.outcome === "admitted" ? "admitted" : admitted.state,
          statusUrl,
          fingerprint: admitted.fingerprint,
        });
    },
  });
}

function registerStatus(app: Pick<Api, "route">, { ledger }: ApiDependencies): void {
  app.route({
    method: "GET",
    url: "/api/invoice-batches/:batchId",
    config: { roles: ["submitter", "operator"] },
    schema: {
      summary: "How a batch stands.",
      security,
      params: z.object({ batchId: z.string() }),
      response: {
        200: batchSchema,
        ...problemResponses("Unauthenticated", "NotAllowed", "UnknownInvoiceBatch", "LedgerUnavailable"),
      },
    },
    handler: async (request) => {
      const { batchId } = request.params;
      // An id that can't be one isn't looked for; the database couldn't even hold some of them.
      const row = keyPattern.test(batchId) ? await readRequest(ledger, batchId) : undefined;
      if (row === undefined || row.kind !== invoiceBatchKind) {
        throw new ApiProblem("UnknownInvoiceBatch", `there is no batch ${JSON.stringify(batchId)}`);
      }
      requireOwnTenant(callerOf(request), batchId, row.tenant);
      const { invoices } = row.body as unknown as z.infer<typeof bodySchema>;
      return {
        batchId,
        tenant: row.tenant,
        state: row.state,
        invoices,
        admittedAt: row.admitted_at.toISOString(),
        stateChangedAt: row.state_changed_at.toISOString(),
        result: row.result as z.infer<typeof batchSchema>["result"],
      };
    },
  });
}
