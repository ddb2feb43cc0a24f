/** A lab in a file of its own, as somebody else would write one: the invoice story with another worker. */
import { workerEntries } from "../../../scenarios/invoice-approval/environment.js";
import { invoiceApprovalLab } from "../../../scenarios/invoice-approval/lab.js";
import { withWorker } from "./shared-environment.js";

const folder = process.env["KILLPROOF_TEST_MANIFEST_FOLDER"];
if (folder === undefined) throw new Error("KILLPROOF_TEST_MANIFEST_FOLDER must name the manifest's folder");

// The first run of the test finds the windows without the statement.
const entry =
  process.env["KILLPROOF_TEST_EXTRA_UPDATE"] === "yes"
    ? "test/crash-lab/labs/extra-update-worker.js"
    : workerEntries.safe;

export default {
  ...withWorker(invoiceApprovalLab, (spec) => ({
    ...spec,
    entry,
  })),
  folder,
};
