import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { callerDirectory, readCallers } from "../../../services/api/callers.js";
import { readInvoicePolicy } from "../../../services/api/policy-file.js";
import { SettingsError } from "../../../services/settings.js";
import { readSettings } from "../../../services/api/settings.js";
import { keyOf, people } from "./api-rig.js";

const complete = {
  LEDGER_URL: "postgresql://api:hidden@127.0.0.1:5432/ledger",
  API_CALLERS_FILE: "callers.json",
  INVOICE_POLICY_FILE: "policy.json",
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "killproof-api-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(content: unknown): Promise<string> {
  const name = path.join(
    folder,
    `${createHash("sha256").update(JSON.stringify(content)).digest("hex")}.json`,
  );
  await writeFile(name, typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

test("listens to this machine only, on a free port, with four open batches, unless told otherwise", () => {
  expect(readSettings(complete)).toMatchObject({
    API_LISTEN_ADDRESS: "127.0.0.1",
    API_PORT: 0,
    API_OPEN_BATCHES_MAX: 4,
    TEMPORAL_TASK_QUEUE: "killproof",
  });
});

test.each([
  ["LEDGER_URL", "mysql://x:hidden@y/z", "LEDGER_URL must be the ledger's address"],
  ["LEDGER_URL", undefined, "it is not set"],
  ["API_CALLERS_FILE", undefined, "API_CALLERS_FILE must be a file; it is not set"],
  ["API_PORT", "70000", 'API_PORT must be a port from 0 to 65535; 0 takes a free one; it is "70000"'],
  ["API_LISTEN_ADDRESS", "everywhere", 'API_LISTEN_ADDRESS must be an IP address; it is "everywhere"'],
  ["API_OPEN_BATCHES_MAX", "0", 'API_OPEN_BATCHES_MAX must be a whole number from 1 to 1000; it is "0"'],
])("refuses %s=%s in one line without the secret", (name, value, message) => {
  const read = () => readSettings({ ...complete, [name]: value });
  expect(read).toThrow(SettingsError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/hidden|\n/);
});

test("knows a caller by the key alone", () => {
  const callers = callerDirectory(people);
  expect(callers.byKey(keyOf("sue"))).toMatchObject({ id: "sue", tenant: "north", roles: ["submitter"] });
  expect(callers.byKey(keyOf("sue"))).not.toHaveProperty("keySha256");
  // Nobody calls with what stands in the file.
  expect(callers.byKey(people[0]!.keySha256)).toBeUndefined();
  expect(callers.byKey("")).toBeUndefined();
});

test("tells a tenant's reviewers, but not whoever handed the batch in", () => {
  const callers = callerDirectory(people);
  expect(callers.reviewerMails("north", "max")).toEqual(["ann@reviewers.example", "bob@reviewers.example"]);
  expect(callers.reviewerMails("south", "sid")).toEqual(["rob@reviewers.example"]);
});

const { keySha256 } = people[0]!;
const ann = { id: "ann", tenant: "north", roles: ["reviewer"], keySha256 };
test.each([
  ["{", "isn't JSON"],
  [{ callers: [{ ...ann, roles: [] }] }, "callers.0.roles is wrong: must hold a role"],
  [{ callers: [{ ...ann, roles: ["king"] }] }, "callers.0.roles.0 is wrong: must be one of submitter"],
  [{ callers: [{ ...ann, keySha256: "key-of-ann" }] }, "callers.0.keySha256 is wrong: must be the SHA-256"],
  [{ callers: [ann, { ...ann, keySha256: "0".repeat(64) }] }, "callers.1.id is wrong: must not occur twice"],
  [{ callers: [ann, { ...ann, id: "bob" }] }, "callers.1.keySha256 is wrong: must not occur twice"],
])("refuses the callers %j", async (content, message) => {
  const read = readCallers(await file(content));
  await expect(read).rejects.toThrow(SettingsError);
  await expect(read).rejects.toThrow(message);
  await expect(read).rejects.not.toThrow("key-of-ann");
});

test("names a file that isn't there", async () => {
  await expect(readCallers(path.join(folder, "none.json"))).rejects.toThrow(
    /API_CALLERS_FILE names .*ENOENT/,
  );
});

test("the production policy as a file is the one that scenarios and docs know", async () => {
  const read = await readInvoicePolicy("scenarios/invoice-approval/policy.production.json");
  expect(read).toEqual(productionPolicy.workflow);
});

test("refuses a policy with an unknown or missing figure", async () => {
  const policy = productionPolicy.workflow;
  await expect(readInvoicePolicy(await file({ ...policy, deadline: 1 }))).rejects.toThrow(/deadline/);
  await expect(readInvoicePolicy(await file({ ...policy, review: {} }))).rejects.toThrow(
    /review\.deadlineMs/,
  );
});

test("the callers for development have the keys that the documentation gives", async () => {
  const callers = await readCallers("scenarios/invoice-approval/callers.development.json");
  const documented = await readFile("docs/api.md", "utf8");
  const keys = [...documented.matchAll(/`(development-only-[a-z]+)`/g)].map(([, key]) => key!);
  expect(keys.length).toBeGreaterThanOrEqual(4);
  expect(keys.filter((key) => callers.byKey(key) === undefined)).toEqual([]);
});
