/** What is wrong with a lab or its use ends in one clear line and exit code 2, never in a verdict or a stack. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crash } from "../../cli/crash/crash.js";
import { replayCase } from "../../cli/crash/replay.js";
import { UserFacingError } from "../../platform/errors.js";
import { LabFault } from "../../crash-lab/run/lab-fault.js";
import { compiledEntry } from "../../platform/package-root.js";
import { invoiceApprovalLab } from "../../scenarios/invoice-approval/lab.js";
import {
  openSharedEnvironment,
  withWorker,
  type InvoiceLab,
  type SharedEnvironment,
} from "./labs/shared-environment.js";

describe("seen before anything is started", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "killproof-bad-input-"));
    await writeFile(join(folder, "no.lab.mjs"), "export default { name: 'mine' };\n");
    await writeFile(join(folder, "bad.json"), '{ "schema": "killproof.crash-schedule/1" }\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const cases: readonly (readonly [string, (folder: string) => readonly string[], RegExp])[] = [
    ["an unknown scenario", () => ["nothing"], /^crash nothing: allowed are invoice-approval, or the path/],
    [
      "what is no window's name",
      () => ["invoice-approval", "--window", "worker/POST"],
      /^window name "worker\/POST" has 2 parts; it takes 6/,
    ],
    [
      "an unknown story",
      () => ["invoice-approval", "--story", "sad"],
      /^invoice-approval has no story "sad"; it has automatic/,
    ],
    [
      "an unknown verb",
      () => ["invoice-approval", "--verb", "hug"],
      /^--verb hug: allowed are kill, drop-answer, drop-request/,
    ],
    [
      "an unknown profile",
      () => ["invoice-approval", "--profile", "slow"],
      /^invoice-approval has no profile "slow"; it has quick, obituary/,
    ],
    ["a number that is none", () => ["invoice-approval", "--repeat", "x"], /^--repeat x: allowed is a whole/],
    ["a file that isn't there", () => ["./no/such.lab.js"], /^\.\/no\/such\.lab\.js: ENOENT/],
    ["a file without a lab", (at) => [join(at, "no.lab.mjs")], /it lacks folder, environment, peers/],
    ["a schedule file that is none", (at) => ["replay", join(at, "bad.json")], /bad\.json: scenario: /],
  ];
  for (const [name, args, message] of cases)
    test(`${name}`, async () => {
      const error: unknown = await called(args(folder)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UserFacingError);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
    });

  test("the command prints that line alone, and exits with 2", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [compiledEntry("cli/main.js"), "crash", "invoice-approval", "--window", "worker/POST"],
      { encoding: "utf8" },
    );
    expect(stderr.trimEnd().split("\n")).toEqual([expect.stringMatching(/^window name "worker\/POST" has/)]);
    expect(status).toBe(2);
  });
});

const streams = { stdout: new PassThrough(), stderr: new PassThrough() };

/** As the command line would call it. */
function called([scenario, option, value]: readonly string[]): Promise<number> {
  if (scenario === "replay") return replayCase({ file: option!, version: "test", ...streams });
  const options = {
    "--window": "window",
    "--story": "story",
    "--verb": "verb",
    "--repeat": "repeat",
    "--profile": "profile",
  } as const;
  const name = options[option as keyof typeof options];
  return crash({
    scenario: scenario!,
    version: "test",
    naive: false,
    accept: false,
    serial: false,
    ...(name === undefined ? {} : { [name]: name === "repeat" || name === "profile" ? value : [value] }),
    ...streams,
  });
}

describe("seen while the lab runs", () => {
  let shared: SharedEnvironment;
  beforeAll(async () => {
    shared = await openSharedEnvironment("bad-input");
  });
  afterAll(() => shared.close());

  async function faultOf(lab: InvoiceLab, windows?: readonly string[]): Promise<LabFault> {
    const fault: unknown = await shared.play(lab, windows ? { windows } : {}).then(
      () => "it ran",
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(LabFault);
    expect((fault as LabFault).exitCode).toBe(2);
    return fault as LabFault;
  }

  test("a window that no run comes by", async () => {
    const window = "automatic/worker/accounting/DELETE%20%2Fpostings/1/after";
    const { message } = await faultOf(invoiceApprovalLab, [window]);
    expect(message).toBe(
      `no undisturbed run came by the window "${window}"; the manifest lists those there are`,
    );
  });

  test("a scenario that fails undisturbed", async () => {
    const [story] = Object.values(invoiceApprovalLab.stories);
    const { message } = await faultOf({
      ...invoiceApprovalLab,
      stories: {
        automatic: {
          ...story!,
          start: async (environment, token, stage) => {
            // The document can't be read, so the invoice waits for it, and nothing is ever posted.
            await environment.world.control.tellFault({
              run: token,
              system: "documents",
              kind: "unavailable",
              status: 503,
            });
            return story!.start(environment, token, stage);
          },
        },
      },
      profile: { ...invoiceApprovalLab.profile, deadlineMs: 3_000 },
    });
    expect(message).toMatch(/^story automatic fails undisturbed: still pending: /);
  });

  test("a process that is never ready", async () => {
    const { message } = await faultOf(
      withWorker(invoiceApprovalLab, (spec) => ({ ...spec, ready: () => false, readyTimeoutMs: 2_000 })),
    );
    expect(message).toMatch(/^process worker could not be started: /);
  });

  test("a worker that talks to somebody past the taps", async () => {
    const { message } = await faultOf(
      withWorker(invoiceApprovalLab, (spec, { ledgerUrl }) => ({
        ...spec,
        entry: "test/crash-lab/labs/past-the-taps-worker.js",
        env: { ...spec.env, UNTAPPED_URL: ledgerUrl },
      })),
    );
    const { port } = new URL(shared.environment.ledgerUrl);
    expect(message).toMatch(
      new RegExp(`^process worker \\(\\d+\\) is connected to 127\\.0\\.0\\.1:${port}, past the taps$`),
    );
  });
});
