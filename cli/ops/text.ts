/** The operator's lists for people. */
import type { OpsDetail, OpsEntry } from "./entries.js";

const evidenceCharactersMax = 160;

export function listText(entries: readonly OpsEntry[]): string {
  if (entries.length === 0) return "Nothing waits for anybody.\n";
  const questions = entries.filter(({ answers }) => answers.length > 0).length;
  const blocks = entries.map((entry) =>
    [
      `${entry.id}  ${entry.kind} ${entry.subject}`,
      `    ${entry.reason}, for ${age(entry.ageMs)}`,
      `    ${cut(JSON.stringify(entry.evidence))}`,
      `    ${entry.answers.length === 0 ? entry.advice : `answers: ${entry.answers.join(", ")}`}`,
    ].join("\n"),
  );
  return `${blocks.join("\n\n")}\n\n${entries.length} in all, ${questions} of them to be answered.\n`;
}

export function detailText(entry: OpsDetail): string {
  const lines = [
    `${entry.id}  ${entry.kind} ${entry.subject}`,
    `reason    ${entry.reason}`,
    `age       ${age(entry.ageMs)}`,
    `answers   ${entry.answers.length === 0 ? "none" : entry.answers.join(", ")}`,
    `          ${entry.advice}`,
    "evidence",
    indented(entry.evidence),
  ];
  if (entry.answered !== undefined) lines.push("answered", indented(entry.answered));
  if (entry.events !== undefined) {
    lines.push("events", ...entry.events.map((event) => `  ${JSON.stringify(event)}`));
  }
  return `${lines.join("\n")}\n`;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

/** The two largest units: `2 d 3 h`, `14 min`, `8 s`. */
export function age(ms: number): string {
  let rest = ms;
  const parts: string[] = [];
  for (const [unit, unitMs] of units) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? `${Math.floor(rest / 1_000)} s` : parts.slice(0, 2).join(" ");
}

function cut(text: string): string {
  return text.length <= evidenceCharactersMax ? text : `${text.slice(0, evidenceCharactersMax - 2)} …`;
}

function indented(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/^/gm, "  ");
}
