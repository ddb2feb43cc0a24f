/** The taps' events against what the other sides say in their own words: nothing is missing, nothing is made up. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { goldenRuns, type Golden } from "../../crash-lab/run/golden.js";
import { openLab, type OpenLab } from "../../crash-lab/run/open-lab.js";
import type { BoundaryEvent } from "../../crash-lab/taps/event.js";
import { createStatementReader } from "../../crash-lab/taps/postgres/statements.js";
import type { InvoiceEnvironment } from "../../scenarios/invoice-approval/environment.js";
import { invoiceApprovalLab } from "../../scenarios/invoice-approval/lab.js";
import { openSharedEnvironment, type SharedEnvironment } from "./labs/shared-environment.js";

let shared: SharedEnvironment;
let lab: OpenLab<InvoiceEnvironment>;
let golden: Golden;

beforeAll(async () => {
  shared = await openSharedEnvironment("count", {
    // `mod` would leave out what is written inside WITH.
    databaseSettings: { log_statement: "all", log_line_prefix: "@%a@" },
  });
  lab = await openLab({ ...invoiceApprovalLab, environment: async () => shared.environment }, shared.run);
  golden = await goldenRuns(lab, "automatic");
});
afterAll(() => shared.close());

const seenBy = (tap: string, side: BoundaryEvent["side"]): BoundaryEvent[] =>
  lab.controller.events.filter((event) => event.tap === tap && event.side === side);
const sorted = (texts: readonly string[]): string[] => [...texts].sort();
const ofHistories = () => golden.runs.flatMap(({ found }) => found.history);

test("no event belongs to nobody, and no connection leads past the taps", () => {
  expect(lab.controller.strays).toEqual([]);
  expect(lab.controller.faults).toEqual([]);
  expect(lab.untapped).toEqual([]);
  expect(lab.controller.events.filter(({ attribution }) => attribution === "unattributed")).toEqual([]);
});

test("writes in the database's own statement log", async () => {
  const reader = await createStatementReader();
  const identity = String(lab.slots.active("worker").process.ready["identity"]);
  const { logFile } = shared.environment.database.server!;
  const entry = new RegExp(
    `^@${identity}@LOG: {2}(?:statement|execute [^:]*): ([^]*?)(?=\\n@|\\n?$(?![^]))`,
    "gm",
  );
  const written = async (): Promise<string[]> => {
    const log = await readFile(logFile, "utf8");
    return [...log.matchAll(entry)]
      .flatMap((match) => reader.read(match[1]!.replaceAll("\n\t", "\n")))
      .filter(({ writes }) => writes)
      .map(({ verb, table, fingerprint }) => `${verb} ${table} ${fingerprint}`);
  };
  const tapped = seenBy("ledger", "after").flatMap(({ details }) =>
    details.kind === "postgres"
      ? details.statements
          .filter(({ writes }) => writes)
          .map(({ verb, table, fingerprint }) => `${verb} ${table} ${fingerprint}`)
      : [],
  );
  expect(tapped.length).toBeGreaterThan(8);
  // The log is a file that another process writes.
  await vi.waitFor(async () => expect(sorted(await written())).toEqual(sorted(tapped)), { timeout: 10_000 });
});

test("requests in the outside systems' own access log", async () => {
  interface AccessLine {
    readonly event?: string;
    readonly system?: string;
    readonly method?: string;
    readonly route?: string;
    readonly status?: number;
  }
  const logged = async (): Promise<string[]> => {
    const lines = (await readFile(shared.environment.world.process.logFile, "utf8")).trim().split("\n");
    return lines
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as AccessLine)
      .filter(({ event, system }) => event === "request" && system !== "control")
      .map(({ system, method, status }) => `${system} ${method} ${status}`);
  };
  const tapped = ["accounting", "documents", "mail"].flatMap((tap) =>
    seenBy(tap, "after").map(({ details, status }) =>
      details.kind === "http" ? `${tap} ${details.method} ${status}` : "",
    ),
  );
  expect(tapped.length).toBeGreaterThanOrEqual(4);
  await vi.waitFor(async () => expect(sorted(await logged())).toEqual(sorted(tapped)), { timeout: 10_000 });
});

test("completions in Temporal's own histories", () => {
  const inHistory = (type: string): string[] =>
    ofHistories()
      .filter((event) => event.type === type)
      .map(({ workflowId, activityId }) => [workflowId, activityId].filter(Boolean).join("/"));
  const tapped = (call: string): string[] =>
    seenBy("temporal", "after")
      .filter(({ details, status }) => details.kind === "temporal" && details.call === call && status === "0")
      .map(({ key }) => key!);
  const activities = inHistory("ACTIVITY_TASK_COMPLETED");
  expect(activities).toHaveLength(6);
  expect(sorted(tapped("RespondActivityTaskCompleted"))).toEqual(sorted(activities));
  expect(sorted(tapped("RespondWorkflowTaskCompleted"))).toEqual(
    sorted(inHistory("WORKFLOW_TASK_COMPLETED")),
  );
});
