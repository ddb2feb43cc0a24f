/**
 * What the processes of the lab are started with. Most stories share one set; those in which a deadline has to pass,
 * or in which accounting is another kind of system, name their own.
 */
import type { LabProfile } from "../../crash-lab/lab-definition.js";
import { demoPolicy, type InvoiceScenarioPolicy } from "./policy.js";

export interface LabSettings {
  readonly policy: InvoiceScenarioPolicy;
  /** What the worker is told of accounting. */
  readonly accounting: { readonly honoursKeys: boolean; readonly canFind: boolean };
}

/**
 * As in the demo, with the profile's patience. A delivered activity is held no longer than a heartbeat may be missing, so
 * that is made to fit; longer would make the recovery of an activity the slowest in a round.
 */
export function labPolicy({ workflowTaskTimeoutMs }: LabProfile): InvoiceScenarioPolicy {
  const activity = { ...demoPolicy.workflow.activity, heartbeatMs: 0.75 * workflowTaskTimeoutMs };
  return { ...demoPolicy, workflow: { ...demoPolicy.workflow, workflowTaskTimeoutMs, activity } };
}

/** How a set of settings differs from the one that most stories share. */
interface Differences {
  /** How long reviewers have. Default: the demo's minute, which no load makes pass. */
  readonly reviewMs?: number;
  /** What the worker is told of accounting. Default: that it keeps keys and can be asked. */
  readonly accounting?: Partial<LabSettings["accounting"]>;
  readonly settleMs?: number;
}

const named = {
  /** The deadline passes whatever happens, so it may be short. */
  "two seconds to decide": { reviewMs: 2_000 },
  /**
   * A decision has to be taken in time although a kill before it may cost a hold, a time-out and a retry, four
   * seconds together; and the deadline has to pass in every run. Shorter would let load decide the race.
   */
  "eight seconds to decide": { reviewMs: 8_000 },
  /** Accounting is asked what it has, so how long it takes to settle is what every such window waits for. */
  "accounting without keys": { accounting: { honoursKeys: false }, settleMs: 1_000 },
  "accounting that can't be asked": { accounting: { honoursKeys: false, canFind: false } },
} as const satisfies Record<string, Differences>;

export type SettingsName = keyof typeof named;

/** @throws Error for a name that isn't one, which is a mistake in a story */
export function labSettings(name: string | undefined, profile: LabProfile): LabSettings {
  const differences: Differences | undefined = name === undefined ? {} : named[name as SettingsName];
  if (differences === undefined)
    throw new Error(`no settings are called "${name}"; there are ${Object.keys(named).join(", ")}`);
  const { workflow, accounting } = labPolicy(profile);
  const { reviewMs, settleMs } = differences;
  return {
    policy: {
      workflow: { ...workflow, ...(reviewMs === undefined ? {} : { review: { deadlineMs: reviewMs } }) },
      accounting: { ...accounting, ...(settleMs === undefined ? {} : { settleMs }) },
    },
    accounting: { honoursKeys: true, canFind: true, ...differences.accounting },
  };
}
