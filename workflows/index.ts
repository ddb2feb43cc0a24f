/** Every workflow that the worker serves. What is exported here is part of the bundle. */
export { invoiceBatch } from "./invoice-approval/invoice-batch.js";
export { processInvoice } from "./invoice-approval/process-invoice.js";
export { sweep } from "./sweeps/sweep.js";
