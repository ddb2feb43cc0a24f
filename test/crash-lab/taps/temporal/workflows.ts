/** Small workflows for the tap's tests; they run inside the real workflow sandbox. */
import {
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import type { Activities } from "./activities.js";

const { greet, beat } = proxyActivities<Activities>({
  startToCloseTimeout: "20s",
  retry: { initialInterval: 20, backoffCoefficient: 1 },
});

export const wake = defineSignal<[string]>("wake");
export const add = defineUpdate<number, [number]>("add");

/** One activity, one timer, one activity. */
export async function greeting(name: string): Promise<string> {
  const first = await greet(name);
  await sleep(10);
  return greet(first);
}

/** Ends when it was woken; counts what it was given. */
export async function waiting(): Promise<number> {
  let sum = 0;
  let woken = false;
  setHandler(wake, () => void (woken = true));
  setHandler(add, (amount) => (sum += amount));
  await condition(() => woken);
  return sum;
}

export async function beating(times: number): Promise<number> {
  return beat(times);
}
