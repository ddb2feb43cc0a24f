/** The lab itself sabotaged: whatever is done to it, it must never be green. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { StandbyGate } from "../../crash-lab/taps/standby.js";
import { exitCodeOfReport } from "../../crash-lab/report/exit-code.js";
import type { LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { compiledEntry } from "../../platform/package-root.js";
import { invoiceApprovalLab } from "../../scenarios/invoice-approval/lab.js";
import {
  openSharedEnvironment,
  windows,
  withWorker,
  type SharedEnvironment,
} from "./labs/shared-environment.js";

let shared: SharedEnvironment;
beforeAll(async () => {
  shared = await openSharedEnvironment("sabotage");
});
afterAll(() => shared.close());
afterEach(() => vi.restoreAllMocks());

const onlyVerdict = ({ report }: LabResult): string => {
  const [judged, ...others] = report.scenarios[0]!.cases;
  expect(others).toEqual([]);
  expect(exitCodeOfReport(report)).not.toBe(0);
  return judged!.verdict;
};

test("the victim is started through a shell, which dies in its place", async () => {
  const lab = withWorker(invoiceApprovalLab, ({ entry, ...spec }) => ({
    ...spec,
    // The second command keeps the shell from becoming the worker.
    command: ["/bin/sh", "-c", '"$0" "$1"; exit 0', process.execPath, compiledEntry(entry!)],
  }));
  const result = await shared.play(lab, { windows: [windows.afterPosting] });
  expect(onlyVerdict(result)).toBe("vacuous");
});

test("the kill does nothing", async () => {
  const kill = process.kill.bind(process);
  const spared: number[] = [];
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (signal !== "SIGKILL" || pid < 0) return kill(pid, signal);
    spared.push(pid);
    return true;
  });
  const result = await shared.play(invoiceApprovalLab, { windows: [windows.beforePosting] });
  expect(spared).toHaveLength(1);
  expect(onlyVerdict(result)).toBe("vacuous");
});

test("a row is taken out of accounting's journal", async () => {
  let golden = 0;
  const result = await shared.play(
    {
      ...invoiceApprovalLab,
      // The undisturbed runs come first, two of them.
      effects: async (...run) => (await invoiceApprovalLab.effects(...run)).slice((golden += 1) > 2 ? 1 : 0),
    },
    { windows: [windows.afterPosting] },
  );
  expect(onlyVerdict(result)).toBe("lost");
});

test("a standby takes work before it may", async () => {
  vi.spyOn(StandbyGate.prototype, "active", "get").mockReturnValue(true);
  await expect(
    shared.play(invoiceApprovalLab, { windows: [windows.afterPosting, windows.afterReading] }),
  ).rejects.toThrow(/worker#\d+ is a standby and took work/);
});
