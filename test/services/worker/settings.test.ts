import { expect, test } from "vitest";
import { heartbeatIntervalMs } from "../../../services/worker/heartbeat.js";
import { SettingsError } from "../../../services/settings.js";
import { accountingPolicy, readSettings } from "../../../services/worker/settings.js";

const complete = {
  LEDGER_URL: "postgresql://worker:secret@127.0.0.1:5432/ledger",
  ACCOUNTING_URL: "http://127.0.0.1:4001",
  ACCOUNTING_API_KEY: "accounting-secret",
  DOCUMENTS_URL: "http://127.0.0.1:4002",
  DOCUMENTS_API_KEY: "documents-secret",
  SUPPLIERS_FILE: "suppliers.json",
};

test("has a default for everything that isn't an address or a secret", () => {
  const settings = readSettings(complete);
  expect(settings).toMatchObject({
    TEMPORAL_ADDRESS: "127.0.0.1:7233",
    TEMPORAL_TASK_QUEUE: "killproof",
    WORKER_PROFILE: "production",
  });
  expect(accountingPolicy(settings)).toEqual({
    honoursKeys: true,
    keysLiveForMs: null,
    canFind: true,
    settleMs: 600_000,
    parkAfterMs: 86_400_000,
  });
});

test.each([
  ["ACCOUNTING_KEYS_LIVE_MS", "86400000", { keysLiveForMs: 86_400_000 }],
  ["ACCOUNTING_KEYS_LIVE_MS", "for-ever", { keysLiveForMs: null }],
  ["ACCOUNTING_HONOURS_KEYS", "no", { honoursKeys: false }],
  ["ACCOUNTING_CAN_FIND", "no", { canFind: false }],
  ["ACCOUNTING_SETTLE_MS", "5000", { settleMs: 5_000 }],
])("%s=%s says how accounting behaves", (name, value, expected) => {
  expect(accountingPolicy(readSettings({ ...complete, [name]: value }))).toMatchObject(expected);
});

test.each([
  ["TEMPORAL_ADDRESS", "nowhere", 'TEMPORAL_ADDRESS must be host:port; it is "nowhere"'],
  ["LEDGER_URL", "mysql://x:hidden@y/z", "LEDGER_URL must be the ledger's address"],
  ["LEDGER_URL", undefined, "it is not set"],
  ["ACCOUNTING_URL", "ftp://x", 'ACCOUNTING_URL must be an http or https address; it is "ftp://x"'],
  ["ACCOUNTING_HONOURS_KEYS", "maybe", 'ACCOUNTING_HONOURS_KEYS must be yes or no; it is "maybe"'],
  ["ACCOUNTING_KEYS_LIVE_MS", "a day", "must be for-ever or a whole number of milliseconds"],
  ["WORKER_PROFILE", "fast", 'WORKER_PROFILE must be production or quick; it is "fast"'],
  ["WORKER_CACHED_WORKFLOWS", "-1", "WORKER_CACHED_WORKFLOWS must be a whole number"],
])("refuses %s=%s in one line without the secret", (name, value, message) => {
  const read = () => readSettings({ ...complete, [name]: value });
  expect(read).toThrow(SettingsError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/hidden|\n/);
});

test("beats four times within the heartbeat time-out, and not at all without one", () => {
  expect(heartbeatIntervalMs(10_000)).toBe(2_500);
  expect(heartbeatIntervalMs(50)).toBe(20);
  expect(heartbeatIntervalMs(undefined)).toBeUndefined();
});
