import { expect, test } from "vitest";
import { checkServerSettings } from "../../platform/check-settings.js";

test.each([
  [{ TEMPORAL_ADDRESS: "notaport" }, 'TEMPORAL_ADDRESS is "notaport"'],
  [{ KILLPROOF_TEMPORAL_SOURCES: "rubbish" }, 'KILLPROOF_TEMPORAL_SOURCES is "rubbish"'],
  [{ DATABASE_URL: "mysql://me:secret@host/db" }, "DATABASE_URL is not a URL of the form postgres://"],
])("%o is refused before anything is started, and tells no password", async (environment, message) => {
  const refused = checkServerSettings(environment);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.not.toThrow("secret");
});

test("nothing set is fine", async () => {
  await expect(checkServerSettings({ DATABASE_URL: "", TEMPORAL_ADDRESS: "" })).resolves.toBeUndefined();
});
