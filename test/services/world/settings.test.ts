import { expect, test } from "vitest";
import { readSettings } from "../../../services/world/settings.js";

const good = {
  WORLD_DATABASE_URL: "postgresql://owner:hidden-password@127.0.0.1:5432/world",
  WORLD_ACCOUNTING_API_KEY: "accounting-key-0001",
  WORLD_DOCUMENTS_API_KEY: "documents-key-00001",
  WORLD_MAIL_API_KEY: "mail-key-0000000001",
  WORLD_CONTROL_TOKEN: "control-token-00001",
  WORLD_JUDGE_TOKEN: "judge-token-0000001",
};

test("free ports and the info level unless said otherwise", () => {
  expect(readSettings(good)).toMatchObject({
    WORLD_ACCOUNTING_PORT: 0,
    WORLD_CONTROL_PORT: 0,
    WORLD_LOG_LEVEL: "info",
  });
  expect(readSettings({ ...good, WORLD_MAIL_PORT: "8025" })).toMatchObject({ WORLD_MAIL_PORT: 8025 });
});

test.each([
  [
    { WORLD_MAIL_PORT: "70000" },
    'WORLD_MAIL_PORT must be a port from 0 to 65535; 0 takes a free one; it is "70000"',
  ],
  [
    { WORLD_MAIL_PORT: "web" },
    'WORLD_MAIL_PORT must be a port from 0 to 65535; 0 takes a free one; it is "web"',
  ],
  [
    { WORLD_LOG_LEVEL: "loud" },
    'WORLD_LOG_LEVEL must be one of fatal, error, warn, info, debug, silent; it is "loud"',
  ],
  [
    { WORLD_JUDGE_TOKEN: undefined },
    "WORLD_JUDGE_TOKEN must be a secret of at least 16 characters; it is not set",
  ],
  [
    { WORLD_JUDGE_TOKEN: "short" },
    "WORLD_JUDGE_TOKEN must be a secret of at least 16 characters; it is set to 5 characters (not shown)",
  ],
  [{ WORLD_JUDGE_TOKEN: good.WORLD_MAIL_API_KEY }, "WORLD_JUDGE_TOKEN must differ from WORLD_MAIL_API_KEY"],
  [
    { WORLD_DATABASE_URL: "mysql://root:hunter2@x/y" },
    "WORLD_DATABASE_URL must be the address of the world's own database",
  ],
])("%o", (change, message) => {
  expect(() => readSettings({ ...good, ...change })).toThrow(message);
});

test("a bad setting shows no secret", () => {
  const bad = { ...good, WORLD_DATABASE_URL: "mysql://root:hunter2@x/y", WORLD_MAIL_API_KEY: "tiny-secret" };
  const complaint = () => {
    try {
      return readSettings(bad);
    } catch (error) {
      return String(error);
    }
  };
  expect(complaint()).not.toMatch(/hunter2|tiny-secret/);
  expect(complaint()).toMatch(/^SettingsError: WORLD_DATABASE_URL .*\nWORLD_MAIL_API_KEY .*$/);
});
