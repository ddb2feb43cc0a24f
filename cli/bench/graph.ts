import { setMaxListeners } from "node:events";
import { createMemoryCheckpointer } from "../../graph/local/memory-checkpointer.js";
import { fanOut, loop, type LangGraph, type Workload } from "./graph-workloads.js";

/** How many times as many tasks a second our engine is to run as LangGraph.js, on each workload. */
const ratioGoal = 30;

/**
 * A size that is ten times as large may take this many times as long for each task before it counts as more than
 * linear: twice leaves room for the garbage collector and a busy machine, while an engine that copies its whole state
 * at each step is ten times slower there.
 */
const growthMax = 2;

export interface WorkloadRates {
  readonly name: string;
  readonly tasks: number;
  /** Tasks a second of processor time in the fastest round: the others were disturbed. */
  readonly core: number;
  readonly langgraph: number;
  readonly ratio: number;
}

export interface GrowthPoint {
  readonly size: number;
  /** Microseconds of processor time for each task. */
  readonly microsPerTask: number;
}

export interface GraphBenchResult {
  readonly node: string;
  readonly workloads: readonly WorkloadRates[];
  readonly growth: { readonly steps: readonly GrowthPoint[]; readonly fanOut: readonly GrowthPoint[] };
  readonly checkpoints: {
    readonly steps: number;
    /** Bytes of the newest checkpoint as JSON. */
    readonly newestBytes: number;
    /** Bytes of all checkpoints of the run together, each as JSON of its own. */
    readonly allBytes: number;
  };
  /** True when each ratio is at least the goal and nothing grows more than linearly. */
  readonly meetsGoal: boolean;
}

export interface GraphBenchOptions {
  readonly stdout: { write(text: string): unknown };
  /** Prints the result as JSON in place of the table. */
  readonly json?: boolean;
}

/** Measures the graph engine beside LangGraph.js, both with savers, in one run; needs @langchain/langgraph. */
export async function benchGraph({ stdout, json = false }: GraphBenchOptions): Promise<GraphBenchResult> {
  const library = await loadLangGraph();
  // LangGraph.js puts a listener for each task on one signal, and Node would warn of it again and again.
  setMaxListeners(0);
  const workloads: WorkloadRates[] = [];
  for (const workload of [loop(300), fanOut(100, 10)]) workloads.push(await compareRates(workload, library));
  const growth = {
    steps: await growthOf([300, 1000, 3000, 10_000].map((steps) => ({ size: steps, workload: loop(steps) }))),
    fanOut: await growthOf([100, 1000, 10_000].map((width) => ({ size: width, workload: fanOut(width, 1) }))),
  };
  const checkpoints = await checkpointSizes(1000);
  const isLinear = Object.values(growth).every((points) => largestGrowth(points) <= growthMax);
  const meetsGoal = isLinear && workloads.every(({ ratio }) => ratio >= ratioGoal);
  const result = { node: process.version, workloads, growth, checkpoints, meetsGoal };
  stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : tableOf(result));
  return result;
}

async function loadLangGraph(): Promise<LangGraph> {
  try {
    return await import("@langchain/langgraph");
  } catch (error) {
    throw new Error(`the graph bench compares with @langchain/langgraph, which isn't installed`, {
      cause: error,
    });
  }
}

/** Rounds alternate between the engines, so that a busy moment of the machine meets both. */
async function compareRates(workload: Workload, library: LangGraph): Promise<WorkloadRates> {
  const reference = workload.langgraph(library);
  const core = () => workload.core();
  // The first runs compile; what is measured is engines that are warm, which a short run is later than a long one.
  for (let warm = 0; warm < 30; warm += 1) await core();
  for (let warm = 0; warm < 3; warm += 1) await reference();
  const times = { core: [] as number[], langgraph: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    times.langgraph.push(await timeOf(reference));
    // One run of ours is too short to measure beside a timer and a garbage collection.
    for (let run = 0; run < 5; run += 1) times.core.push(await timeOf(core));
  }
  const rate = (milliseconds: number[]) => (workload.tasks / Math.min(...milliseconds)) * 1000;
  const rates = { core: rate(times.core), langgraph: rate(times.langgraph) };
  return { name: workload.name, tasks: workload.tasks, ...rates, ratio: rates.core / rates.langgraph };
}

async function growthOf(
  sizes: readonly { readonly size: number; readonly workload: Workload }[],
): Promise<GrowthPoint[]> {
  const points: GrowthPoint[] = [];
  // What is measured is how the time grows, not how the engine warms up.
  for (let warm = 0; warm < 10; warm += 1) await sizes[0]!.workload.core();
  for (const { size, workload } of sizes) {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) times.push(await timeOf(() => workload.core()));
    points.push({ size, microsPerTask: (Math.min(...times) / workload.tasks) * 1000 });
  }
  return points;
}

/** How many times as long a task takes at the largest size as at the smallest. */
const largestGrowth = (points: readonly GrowthPoint[]): number =>
  points.at(-1)!.microsPerTask / points[0]!.microsPerTask;

async function checkpointSizes(steps: number): Promise<GraphBenchResult["checkpoints"]> {
  const checkpointer = createMemoryCheckpointer();
  await loop(steps).core(checkpointer);
  const sizes = (await checkpointer.list("default")).map(({ latest }) =>
    Buffer.byteLength(JSON.stringify(latest)),
  );
  return { steps, newestBytes: sizes[0]!, allBytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/**
 * Milliseconds of processor time that a run takes. Time on the clock would count what else the machine does, and a
 * short run often escapes that while a long one never does, so it would favour our engine.
 */
async function timeOf(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function tableOf({ node, workloads, growth, checkpoints, meetsGoal }: GraphBenchResult): string {
  const growthLine = (what: string, points: readonly GrowthPoint[]) =>
    `  ${what}: ${points.map(({ size, microsPerTask }) => `${size}: ${microsPerTask.toFixed(1)} µs`).join(", ")}` +
    ` (× ${largestGrowth(points).toFixed(2)}, at most × ${growthMax} counts as linear)`;
  return [
    `Graph engine beside LangGraph.js, both with memory savers, by processor time, Node ${node}`,
    ...workloads.map(
      ({ name, core, langgraph, ratio }) =>
        `  ${name}: ${Math.round(core)} tasks/s, LangGraph.js ${Math.round(langgraph)} tasks/s, ` +
        `ratio ${ratio.toFixed(1)} (goal ${ratioGoal})`,
    ),
    "Processor time for each task as the run grows",
    growthLine("steps", growth.steps),
    growthLine("fan-out", growth.fanOut),
    `Checkpoints of ${checkpoints.steps} steps: the newest has ${checkpoints.newestBytes} bytes, ` +
      `all together ${checkpoints.allBytes} bytes`,
    meetsGoal ? "Goals met" : "Goals missed",
    "",
  ].join("\n");
}
