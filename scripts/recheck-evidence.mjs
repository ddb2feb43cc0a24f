// Works once, duplicated, lost and diverged out again from what outside systems committed: FILE is evidence.ndjson.
import { readFileSync } from "node:fs";
const text = readFileSync(process.argv[2], "utf8");
const lines = text.match(/.+/g).map((line) => JSON.parse(line));
const committedIn = (run) => {
  const own = lines.filter((line) => line.run === run && line.kind === "committed");
  return own.map(({ system, key, digest }) => ({ subject: system + key.replaceAll(run, "{run}"), digest }));
};
for (const { run, key, status } of lines.filter((line) => line.kind === "verdict")) {
  const golden = lines.find((line) => line.kind === "golden" && key.startsWith(`${line.key}/`));
  const [expected, found] = [committedIn(golden.run), committedIn(run)];
  const count = (effects, subject) => effects.filter((effect) => effect.subject === subject).length;
  const known = new Set(expected.map((effect) => effect.subject + effect.digest));
  let verdict = "once";
  if (expected.some(({ subject }) => count(found, subject) < count(expected, subject))) verdict = "lost";
  if (found.some(({ subject }) => count(found, subject) > count(expected, subject))) verdict = "duplicated";
  if (found.some(({ subject, digest }) => !known.has(subject + digest))) verdict = "diverged";
  console.log(`${verdict === status ? "same" : `${verdict}, not`} ${status} ${decodeURIComponent(key)}`);
  if (verdict !== status) process.exitCode = 1;
}
