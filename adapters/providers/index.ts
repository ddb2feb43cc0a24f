/** The outside systems over HTTP, as the ports that activities know. */
export { createAccountingProvider, type AccountingOptions } from "./accounting/provider.js";
export { createDocumentStore, DocumentStoreUnavailable, UnknownDocument } from "./documents/store.js";
export { createMailProvider, type MailOptions } from "./mail/provider.js";
export type { HttpClientOptions } from "./http.js";
