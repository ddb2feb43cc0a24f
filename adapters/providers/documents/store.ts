/** The document store over HTTP. */
import type { DocumentStore } from "../../../activities/ports.js";
import { createHttpClient, type Exchange, type HttpClientOptions } from "../http.js";
import { describeExchange, readProblem } from "../wire.js";

/** Named as in the failure catalogue: an activity that lets it pass fails with this type, which no policy retries. */
export class UnknownDocument extends Error {
  override readonly name = "UnknownDocument";
  constructor(readonly documentId: string) {
    super(`the document store has no document ${JSON.stringify(documentId)}`);
  }
}

/** The store did not answer, or not in its own words. Asking again changes nothing there, so it may be retried. */
export class DocumentStoreUnavailable extends Error {
  override readonly name = "DocumentStoreUnavailable";
  constructor(documentId: string, exchange: Exchange) {
    super(`the document store did not give ${JSON.stringify(documentId)}: ${describeExchange(exchange)}`);
  }
}

const noSuchDocument = "https://documents.example/problems/no-such-document";

/** Default 20 MiB: scanned invoices are larger than other answers. */
const documentBytesMax = 20 * 1024 * 1024;

/** @throws TypeError for options that can't be used; see {@link createHttpClient}. */
export function createDocumentStore(options: HttpClientOptions): DocumentStore {
  const client = createHttpClient({ responseBytesMax: documentBytesMax, ...options });
  return {
    /**
     * @throws UnknownDocument when the store itself says so; a 404 in other words may be a gateway's.
     * @throws DocumentStoreUnavailable for everything else.
     */
    fetch: async (documentId, signal) => {
      const path = `/documents/${encodeURIComponent(documentId)}`;
      const exchange = await client.exchange({ method: "GET", path }, signal);
      if (exchange.kind === "response") {
        if (exchange.status === 200 && exchange.mediaType !== null) {
          return { documentId, mediaType: exchange.mediaType, bytes: exchange.body };
        }
        if (exchange.status === 404 && readProblem(exchange)?.type === noSuchDocument) {
          throw new UnknownDocument(documentId);
        }
      }
      throw new DocumentStoreUnavailable(documentId, exchange);
    },
  };
}
