/** The two routes of the API that handing in needs, with every answer turned into one of few. */
import { z } from "zod";
import type { Page } from "./pages.js";

const admittedSchema = z.object({ batchId: z.string(), state: z.string(), statusUrl: z.string() });

const outcomeSchema = z.looseObject({ outcome: z.string(), invoiceKey: z.string() });
const batchSchema = z.object({
  state: z.string(),
  result: z.object({ outcomes: z.array(outcomeSchema) }).nullable(),
});

const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  detail: z.string(),
  retryable: z.boolean(),
});

export type Admitted = z.infer<typeof admittedSchema>;
export type BatchView = z.infer<typeof batchSchema>;
export type InvoiceOutcomeView = z.infer<typeof outcomeSchema>;

export type Answer<Value> =
  | { readonly answer: "ok"; readonly value: Value }
  /** The same request may be sent again; `places`: because the tenant has as many open batches as it may have. */
  | {
      readonly answer: "again";
      readonly why: "places" | "trouble";
      readonly detail: string;
      readonly afterMs: number | null;
    }
  | { readonly answer: "refused"; readonly status: number; readonly name: string; readonly detail: string }
  /** Whoever answers there isn't this API. */
  | { readonly answer: "stranger"; readonly detail: string };

export interface SubmitApi {
  readonly url: string;
  submit(page: Page): Promise<Answer<Admitted>>;
  batch(batchId: string): Promise<Answer<BatchView>>;
}

/** Longer than the API holds a request on a busy ledger, shorter than a person's patience. */
const answerMsMax = 30_000;

export function submitApi(baseUrl: string, apiKey: string): SubmitApi {
  const call = async <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    init: RequestInit & { readonly headers?: Record<string, string> } = {},
  ): Promise<Answer<z.output<Schema>>> => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(new URL(path, baseUrl), {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${apiKey}` },
        // The key is for this address alone.
        redirect: "manual",
        signal: AbortSignal.timeout(answerMsMax),
      });
      text = await response.text();
    } catch (error) {
      return { answer: "again", why: "trouble", detail: reachReason(error), afterMs: null };
    }
    return read(schema, response, text);
  };
  return {
    url: baseUrl,
    submit: (page) =>
      call(admittedSchema, "api/invoice-batches", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": page.idempotencyKey },
        body: JSON.stringify({
          invoices: page.files.map(({ invoiceKey, name }) => ({
            invoiceKey,
            documentId: name,
            revision: page.revision,
          })),
        }),
      }),
    batch: (batchId) => call(batchSchema, `api/invoice-batches/${encodeURIComponent(batchId)}`),
  };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  response: Response,
  text: string,
): Answer<z.output<Schema>> {
  const { status } = response;
  const body = parsed(text);
  if (response.ok) {
    const value = schema.safeParse(body);
    return value.success
      ? { answer: "ok", value: value.data }
      : { answer: "stranger", detail: `it answered ${status} with something else than a batch` };
  }
  const problem = problemSchema.safeParse(body);
  if (!problem.success) {
    // A proxy in front of it: it may be back in a moment.
    return status >= 500
      ? { answer: "again", why: "trouble", detail: `it answered ${status}`, afterMs: retryAfterMs(response) }
      : { answer: "stranger", detail: `it answered ${status} without a problem detail` };
  }
  const { type, detail, retryable } = problem.data;
  const name = type.slice(type.lastIndexOf(":") + 1);
  return retryable
    ? { answer: "again", why: status === 429 ? "places" : "trouble", detail, afterMs: retryAfterMs(response) }
    : { answer: "refused", status, name, detail };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `Retry-After` in seconds; its other form, a date, is nothing this API sends. */
function retryAfterMs({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
}

/** `fetch` says "fetch failed" and keeps the reason in the cause. */
function reachReason(error: unknown): string {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return `no answer within ${answerMsMax / 1_000} s`;
  const { code } = cause ?? {};
  if (code === undefined) return cause?.message ?? message;
  return code in reachReasons ? `${reachReasons[code]!} (${code})` : code;
}

const reachReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  ECONNRESET: "the connection broke",
  UND_ERR_SOCKET: "the connection broke",
  ETIMEDOUT: "the network is silent",
  EHOSTUNREACH: "the host can't be reached",
};
