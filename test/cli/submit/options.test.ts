import { join } from "node:path";
import { expect, test } from "vitest";
import { readOptions, type SubmitFlags } from "../../../cli/submit/options.js";
import { UserFacingError } from "../../../platform/index.js";
import { folderWith } from "./folder.js";

const key = { KILLPROOF_API_KEY: "hidden-key" };

test("without options: this machine, batches of eight, an hour", async () => {
  expect(await readOptions({}, key)).toEqual({
    url: "http://127.0.0.1:8080/",
    apiKey: "hidden-key",
    batchSize: 8,
    revision: 1,
    giveUpAfterMs: 3_600_000,
  });
});

test("the address comes from the command line before the environment, and keeps its path", async () => {
  const environment = { ...key, KILLPROOF_API_URL: "https://a.example/killproof?x#y" };
  expect((await readOptions({}, environment)).url).toBe("https://a.example/killproof/");
  expect((await readOptions({ url: "http://b.example" }, environment)).url).toBe("http://b.example/");
});

test("a key file comes before the environment, and its line end isn't part of the key", async () => {
  const folder = await folderWith({ key: "from-file\n" });
  expect((await readOptions({ keyFile: join(folder, "key") }, key)).apiKey).toBe("from-file");
});

test.each<[SubmitFlags, Record<string, string>, string]>([
  [{ batchSize: "9" }, key, '--batch-size is "9"; allowed: a whole number from 1 to 8'],
  [{ batchSize: "0" }, key, '--batch-size is "0"'],
  [{ batchSize: "1.5" }, key, '--batch-size is "1.5"'],
  [{ revision: "x" }, key, '--revision is "x"; allowed: a whole number from 1 to 2147483647'],
  [{ giveUpAfter: "-1" }, key, '--give-up-after is "-1"; allowed: a whole number from 1 to 10080'],
  [{ url: "nowhere" }, key, '--url is "nowhere"; allowed: http://HOST:PORT or https://HOST'],
  [{ url: "ftp://x" }, key, '--url is "ftp://x"'],
  [{}, { ...key, KILLPROOF_API_URL: "nowhere" }, 'KILLPROOF_API_URL is "nowhere"'],
  [{ url: "http://me:hidden-key@x" }, key, "--url holds a name or password"],
  [{}, {}, "set KILLPROOF_API_KEY, or name a file by --key-file"],
  [{}, { KILLPROOF_API_KEY: "" }, "KILLPROOF_API_KEY holds no key"],
  [{}, { KILLPROOF_API_KEY: "hidden-key hidden-key" }, "KILLPROOF_API_KEY holds no key"],
  [{ keyFile: "/no/such/file" }, key, "--key-file /no/such/file can't be read"],
])("%j with %j is refused without showing the key", async (flags, environment, message) => {
  const error = await readOptions(flags, environment).then(
    () => undefined,
    (thrown: unknown) => thrown as UserFacingError,
  );
  expect(error).toBeInstanceOf(UserFacingError);
  expect(error?.message).toContain(message);
  expect(error?.message).not.toContain("hidden-key");
});
