/** What can be said of the lab's stories without playing them. */
import { readFile, rm, mkdtemp } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packageRoot } from "../../../platform/index.js";
import { invoiceApprovalLab } from "../../../scenarios/invoice-approval/lab.js";
import { labSettings } from "../../../scenarios/invoice-approval/lab-settings.js";
import {
  submit,
  submittedBatchId,
  type Scene,
} from "../../../scenarios/invoice-approval/lab-stories/callers.js";
import { invoiceExpectations } from "../../../scenarios/invoice-approval/lab-stories/expectations.js";
import { withOwnNumber } from "../../../scenarios/invoice-approval/stories/automatic.js";
import { invoiceStories } from "../../../scenarios/invoice-approval/lab-stories/stories.js";
import { openOffice, type Office } from "../../../scenarios/invoice-approval/office.js";
import { runTokensIn } from "../../../crash-lab/taps/tokens.js";
import { readCallers } from "../../../services/api/callers.js";
import { readInvoicePolicy } from "../../../services/api/policy-file.js";

const token = "kp0123456789ab";
const { profile } = invoiceApprovalLab;

let folder: string;
let office: Office;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "killproof-office-"));
  office = await openOffice(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the stories", () => {
  test("are nine, each with its end", () => {
    expect(Object.keys(invoiceApprovalLab.stories)).toEqual([
      "automatic",
      "approved",
      "rejected",
      "expired",
      "race",
      "two-approvers",
      "refused",
      "unknown",
      "parked",
    ]);
  });

  test.each(Object.entries(invoiceApprovalLab.stories))(
    "every workflow of %s is known by the run's token",
    (_name, story) => {
      const ids = story.workflowIds(token);
      expect(ids.length).toBeGreaterThanOrEqual(2);
      for (const id of ids) expect(runTokensIn(id)).toEqual([token]);
    },
  );

  test.each(Object.entries(invoiceStories))(
    "the API of %s takes the policy that it is played under",
    async (_name, { settings }: { readonly settings?: string }) => {
      const { workflow } = labSettings(settings, profile).policy;
      expect(await readInvoicePolicy(office.policyFile(workflow))).toEqual(workflow);
    },
  );

  test("a deadline is short only where it has to pass", () => {
    const short = Object.entries(invoiceApprovalLab.stories).filter(
      ([, { settings }]) => labSettings(settings, profile).policy.workflow.review!.deadlineMs < 60_000,
    );
    expect(short.map(([name]) => name)).toEqual(["expired", "race"]);
  });

  test("unknown settings are a mistake in a story, and are named", () => {
    expect(() => labSettings("no time at all", profile)).toThrow('no settings are called "no time at all"');
  });

  test("whoever parks is declared, for the story that has accounting without keys and for no other", () => {
    for (const { window } of invoiceExpectations)
      expect(window instanceof RegExp ? window.source : window).toContain("unknown");
  });

  test("each invoice gets a number of its run's own", async () => {
    for (const { invoice } of Object.values(invoiceStories)) {
      const file = join(packageRoot(), "scenarios", "invoice-approval", "files", invoice.file);
      const changed = withOwnNumber(await readFile(file), token);
      expect(runTokensIn(changed)).toEqual([token]);
    }
    expect(() => withOwnNumber(new TextEncoder().encode("<Invoice/>"), token)).toThrow("no invoice number");
  });
});

test("the office's file lets its people in by their keys and nobody else", async () => {
  const callers = await readCallers(office.callersFile);
  expect(callers.byKey(office.keys.ann)).toMatchObject({ id: "ann", roles: ["reviewer"] });
  expect(callers.byKey(office.keys.submitter)).toMatchObject({ id: "submitter", roles: ["submitter"] });
  expect(callers.byKey("guessed")).toBeUndefined();
  expect(await readFile(office.callersFile, "utf8")).not.toContain(office.keys.ann);
});

describe("a caller who doesn't give up", () => {
  let server: Server;
  /** How the next requests are answered, in order; the last for all that follow. */
  let answers: (number | "break")[];
  let keys: (string | string[] | undefined)[];
  beforeEach(async () => {
    answers = [];
    keys = [];
    server = createServer((request, response) => {
      keys.push(request.headers["idempotency-key"]);
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer === "break") return void request.socket.destroy();
      response.writeHead(answer, { "content-type": "application/json" });
      response.end(JSON.stringify({ batchId: submittedBatchId(`${token}-batch`), detail: "because" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const handIn = (signal = new AbortController().signal) => {
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const scene: Scene = { office, apiUrl, token, signal };
    return submit(scene, { key: `${token}-batch`, invoices: [] });
  };

  test("sends the same again under the same key until there is an answer", async () => {
    answers = ["break", 503, "break", 202];
    expect(await handIn()).toEqual({ request: `POST /api/invoice-batches ${token}-batch`, status: 202 });
    expect(keys).toEqual(Array.from({ length: 4 }, () => `${token}-batch`));
  });

  test("takes a refusal for an answer", async () => {
    answers = [409];
    await expect(handIn()).rejects.toThrow("answered 409");
    expect(keys).toHaveLength(1);
  });

  test("stops when there is nobody left to act for", async () => {
    answers = ["break"];
    await expect(handIn(AbortSignal.abort(new Error("the run has ended")))).rejects.toThrow(
      "the run has ended",
    );
  });
});
