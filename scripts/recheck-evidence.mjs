// Works the verdicts once, duplicated, lost and diverged out again from the lines that the outside systems wrote, and
// from nothing else: node scripts/recheck-evidence.mjs DIR/evidence.ndjson [a story's name, automatic by default]
import { readFileSync } from "node:fs";

const [file, story = "automatic"] = process.argv.slice(2);
const lines = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));
const digestsBySubject = (run) => {
  const found = {};
  for (const { system, key, digest } of lines.filter((line) => line.run === run && line.kind === "committed"))
    (found[`${system} ${key.replaceAll(run, "{run}")}`] ??= []).push(digest);
  return found;
};
const golden = digestsBySubject(lines.find(({ kind, key }) => kind === "golden" && key === story).run);
let different = 0;
for (const { run, key, status } of lines.filter(
  ({ kind, key }) => kind === "verdict" && key.startsWith(`${story}/`),
)) {
  const found = digestsBySubject(run);
  const pairs = Object.keys({ ...golden, ...found }).map((subject) => [
    golden[subject] ?? [],
    found[subject] ?? [],
  ]);
  const diverged = pairs.some(([expected, each]) => each.some((digest) => !expected.includes(digest)));
  const duplicated = pairs.some(([expected, each]) => each.length > expected.length);
  const lost = pairs.some(([expected, each]) => each.length < expected.length);
  const verdict = diverged ? "diverged" : duplicated ? "duplicated" : lost ? "lost" : "once";
  if (verdict !== status) different += 1;
  console.log(`${verdict === status ? "same" : `${verdict}, not`} ${status} ${decodeURIComponent(key)}`);
}
process.exitCode = different === 0 ? 0 : 1;
