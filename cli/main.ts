#!/usr/bin/env node
/** The command line. Each command returns its exit code; errors meant for people are printed without a stack. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import type { CrashOptions } from "./crash/crash.js";
import type { AnswerFlags } from "./ops/options.js";
import type { SubmitFlags } from "./submit/options.js";
import { messageOf, packageRoot, UserFacingError } from "../platform/index.js";

const usageExitCode = 2;

function versionOfPackage(): Promise<string> {
  return readFile(join(packageRoot(), "package.json"), "utf8").then(
    (text) => (JSON.parse(text) as { version: string }).version,
  );
}

type CrashFlags = Omit<CrashOptions, "scenario" | "version" | "stdout" | "stderr">;

/** Commands load what they need when they are called, so that `--help` doesn't load a database driver. */
function program(version: string, exitWith: (code: number) => void): Command {
  const killproof = new Command("killproof")
    .description("Durable business processes on Temporal, and a crash lab that kills their processes.")
    .version(version)
    // What stands after a command's name is that command's: `crash --json a report --format b`.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("(killproof --help shows the commands, killproof <command> --help their options)");

  killproof
    .command("demo")
    .description("One invoice, two workers, the same kill: what accounting holds afterwards.")
    .option("--json <file>", "also write the result as JSON")
    .option("--ui", "start Temporal's web interface and print its address")
    .action(async (options: { json?: string; ui?: boolean }) => {
      const { demo } = await import("./demo/demo.js");
      exitWith(await demo({ ...options, ui: options.ui ?? false, stdout: process.stdout }));
    });

  killproof
    .command("doctor")
    .description("What was found on this machine, and whether the demo could run.")
    .option("--json", "for machines")
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import("./doctor.js");
      exitWith(await doctor({ json: options.json ?? false, stdout: process.stdout }));
    });

  killproof
    .command("bench")
    .description("Measure, with the peer beside it in the same run.")
    .argument("[what]", "perform, graph or crash; all by default")
    .option("--json", "for machines")
    .action(async (what: string | undefined, options: { json?: boolean }) => {
      const { bench } = await import("./bench/bench.js");
      exitWith(await bench({ what, json: options.json ?? false, stdout: process.stdout }));
    });

  killproof
    .command("submit")
    .description("Hand in a folder of invoices (.xml, .pdf), in batches of at most eight.")
    .argument("<folder>", "its files are what the document store has under the same names")
    .option("--url <url>", "the API (default: KILLPROOF_API_URL, else http://127.0.0.1:8080)")
    .option("--key-file <file>", "holds the API key (default: the variable KILLPROOF_API_KEY)")
    .option("--batch-size <n>", "most invoices in a batch, 1 to 8 (default: 8)")
    .option("--revision <n>", "of all these invoices, for corrections (default: 1)")
    .option("--wait", "until every invoice has ended")
    .option("--give-up-after <minutes>", "without any progress (default: 60)")
    .option("--json", "the report for machines; what is waited for goes to standard error")
    .addHelpText(
      "after",
      `
Repeating the command is safe at any time, also after a kill: the same files are the same batches.

Exit codes: 0 handed in, and what has ended was posted; 1 refused, or an invoice ended otherwise; 2 could not be done.`,
    )
    .action(async (folder: string, options: SubmitFlags) => {
      const { submit } = await import("./submit/submit.js");
      const { stdout, stderr, env } = process;
      exitWith(await submit({ ...options, folder, environment: env, stdout, stderr }));
    });

  const ops = killproof
    .command("ops")
    .description("What waits for a person, and the answers to it. Needs LEDGER_URL.")
    .addHelpText("after", "\nExit codes: 0 done; 1 refused; 2 could not be done.");
  ops
    .command("list")
    .description("Open questions, and what waits longer than it should.")
    .option("--json", "for machines")
    .action(async (options: { json?: boolean }) => {
      const { opsList } = await import("./ops/ops.js");
      exitWith(await opsList({ ...options, environment: process.env, stdout: process.stdout }));
    });
  ops
    .command("show")
    .description("One of them, with its evidence, its history and what each answer does.")
    .argument("<id>", "as the list shows it")
    .option("--json", "for machines")
    .action(async (id: string, options: { json?: boolean }) => {
      const { opsShow } = await import("./ops/ops.js");
      exitWith(await opsShow({ ...options, id, environment: process.env, stdout: process.stdout }));
    });
  ops
    .command("answer")
    .description("Answer a question. The same answer sent again under the same --id changes nothing.")
    .argument("<question>", "its number in the list")
    .option("--adopt <ref>", "it is there, under this reference")
    .option("--absent", "it isn't there and can't come any more")
    .option("--redrive", "the reason has gone: try again by the same rules")
    .option("--by <who>", "who answers")
    .option("--id <answer>", "an id of your own for this answer")
    .option("--json", "for machines")
    .action(async (question: string, options: AnswerFlags & { json?: boolean }) => {
      const { opsAnswer } = await import("./ops/ops.js");
      const { stdout, env: environment } = process;
      exitWith(await opsAnswer({ ...options, question, environment, stdout }));
    });

  killproof
    .command("track-record")
    .description("Cases from practice: what naive code leaves in the outside world, and what ours leaves.")
    .argument("[case...]", "O5, O6; all by default")
    .option("--json <file>", "also write the outcomes as JSON")
    .action(async (cases: string[], options: { json?: string }) => {
      const { trackRecord } = await import("./track-record/track-record.js");
      exitWith(await trackRecord({ cases, ...options, stdout: process.stdout }));
    });

  const list = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
  const crash = killproof
    .command("crash")
    .description(
      "The crash lab: finds a scenario's windows, kills a process in each, judges what happened outside.",
    )
    .argument("<scenario>", "invoice-approval, or the path of a module that exports a lab of your own")
    .option("--verb <name>", "what to do at each window; may be repeated (default: kill)", list)
    .option("--story <name>", "only this story; may be repeated", list)
    .option("--window <name>", "only this window; may be repeated", list)
    .option("--naive", "the worker without its protections", false)
    .option("--mutants", "the scenario's mutants, each with one protection less; all must be caught", false)
    .option("--mutant <name>", "only this mutant; may be repeated", list)
    .option(
      "--every-window",
      "try mutants at every window, not only where they are predicted to be caught",
      false,
    )
    .option("--serial", "one run at a time; then the times to recover are measured too", false)
    .option("--profile <name>", "another profile of the scenario: obituary waits for no time-outs")
    .option("--manifest-only", "find the windows and print their hash; play nothing", false)
    .option("--repeat <n>", "try each window so often (default: 1)")
    .option("--accept", "write the windows that were found as the scenario's manifest", false)
    .option("--json <file>", "also write the report as JSON")
    .option("--junit <file>", "also write the report as JUnit XML")
    .option("--html <file>", "also write the report as one page, with a timeline for each run")
    .option("--evidence <folder>", "write what every observer saw of every run, line by line")
    .option(
      "--failures <folder>",
      "for each bad case a file that repeats it, and its evidence (default: beside --json)",
    )
    .addHelpText(
      "after",
      `
Exit code: 0 fine, 1 a bad verdict or windows that changed, 2 the lab could not do its work.

Examples:
  killproof crash invoice-approval --story automatic     one story: kill in every window
  killproof crash invoice-approval                       all stories, one after the other
  killproof crash invoice-approval --verb drop-answer    withhold every answer instead
  killproof crash invoice-approval --naive --json r.json see how the unprotected worker fails
  killproof crash invoice-approval --mutants             see that the lab notices what is taken out
  killproof crash replay r-failures/001-duplicated.json --repeat 10
  killproof crash report r.json --format junit`,
    )
    .action(async (scenario: string, options: CrashFlags) => {
      const { crash: runCrash } = await import("./crash/crash.js");
      exitWith(
        await runCrash({ ...options, scenario, version, stdout: process.stdout, stderr: process.stderr }),
      );
    });
  crash
    .command("replay")
    .description("Play a case again from its schedule file, alone, and compare the verdict.")
    .argument("<file>", "the schedule file of a case")
    .option("--repeat <n>", "so often (default: 1)")
    .option("--lab <file>", "the module that exports the lab, when it is one of your own")
    .action(async (file: string, options: { repeat?: string; lab?: string }) => {
      const { replayCase } = await import("./crash/replay.js");
      exitWith(
        await replayCase({ ...options, file, version, stdout: process.stdout, stderr: process.stderr }),
      );
    });
  crash
    .command("report")
    .description("Make any report again from a saved JSON report.")
    .argument("<file>", "the saved report")
    .option("--format <name>", "console, json, junit, html or markdown", "console")
    .option("--evidence <file>", "evidence.ndjson of the same run, for the timelines of the HTML report")
    .action(async (file: string, options: { format: string; evidence?: string }) => {
      const { printReport } = await import("./crash/print-report.js");
      exitWith(await printReport({ file, ...options, stdout: process.stdout }));
    });
  return killproof;
}

async function main(argv: readonly string[]): Promise<number> {
  let code = 0;
  const killproof = program(await versionOfPackage(), (given) => (code = given));
  try {
    await killproof.parseAsync(argv as string[]);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
    if (error instanceof UserFacingError) {
      process.stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`);
    return usageExitCode;
  }
  return code;
}

process.exitCode = await main(process.argv);
