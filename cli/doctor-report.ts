/** What the doctor finds, as data; and the same as text. */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** A demo can't run when a needed check fails; the others only say what else is there. */
  readonly needed: boolean;
  /** One line. */
  readonly summary: string;
  /** More lines: what was tried, where something lies. */
  readonly details: readonly string[];
}

export interface DoctorReport {
  readonly ok: boolean;
  readonly node: string;
  readonly platform: string;
  readonly root: boolean;
  /** The account that Postgres runs as; null when that is the person's own. */
  readonly postgresAccount: string | null;
  readonly folders: { readonly runs: string; readonly cache: string };
  /** Variables that change what happens here, as far as they are set; passwords are left out. */
  readonly settings: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
}

export function renderDoctorReport(report: DoctorReport): string {
  const lines = [
    `Node ${report.node} on ${report.platform}, as ${report.root ? "root" : "an ordinary user"}`,
    `Postgres runs as ${report.postgresAccount ?? "this user"}`,
    `Runs in ${report.folders.runs}`,
    `Cache in ${report.folders.cache}`,
  ];
  const settings = Object.entries(report.settings);
  lines.push(settings.length === 0 ? "No settings in the environment" : "Settings in the environment:");
  for (const [name, value] of settings) lines.push(`  ${name}=${value}`);
  lines.push("");
  for (const check of report.checks) {
    const mark = check.ok ? "ok" : check.needed ? "MISSING" : "absent";
    lines.push(`${mark.padEnd(8)} ${check.name}: ${check.summary}`);
    for (const detail of check.details) lines.push(`         ${detail}`);
  }
  lines.push("", report.ok ? "The demo can run here." : "The demo can't run here: see what is MISSING.");
  return `${lines.join("\n")}\n`;
}
