/** Benchmarks, each with its peer beside it in the same run; figures are ratios, since machines differ. */
import type { Writable } from "node:stream";
import { openRun, UserFacingError } from "../../platform/index.js";

export interface BenchOptions {
  /** One of `benchNames`; all by default. */
  readonly what?: string | undefined;
  readonly json: boolean;
  readonly stdout: Writable;
}

const benches = {
  perform: async (options) => {
    const { benchPerform } = await import("./perform.js");
    const run = await openRun({ name: "bench" });
    try {
      return await benchPerform(run, options);
    } finally {
      await run.close();
    }
  },
  graph: async (options) => {
    const { benchGraph } = await import("./graph.js");
    return benchGraph(options);
  },
  crash: async (options) => {
    const { benchCrash } = await import("./crash.js");
    return benchCrash(options);
  },
} as const satisfies Record<string, (options: { json: boolean; stdout: Writable }) => Promise<unknown>>;

export const benchNames = Object.keys(benches) as (keyof typeof benches)[];

/** @returns 0 when all ran: a figure short of its goal is shown as such and is no failure. */
export async function bench({ what, json, stdout }: BenchOptions): Promise<number> {
  if (what !== undefined && !Object.hasOwn(benches, what))
    throw new UserFacingError(`bench ${what}: allowed are ${benchNames.join(", ")}`);
  for (const name of what === undefined ? benchNames : [what as keyof typeof benches])
    await benches[name]({ json, stdout });
  return 0;
}
