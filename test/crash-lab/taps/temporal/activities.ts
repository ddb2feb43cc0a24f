import { Context } from "@temporalio/activity";

export type Activities = ReturnType<typeof createActivities>;

export function createActivities() {
  return {
    async greet(name: string): Promise<string> {
      return `hello ${name}`;
    },
    /** Heartbeats with a payload of 100 kB each. */
    async beat(times: number): Promise<number> {
      for (let time = 0; time < times; time += 1) Context.current().heartbeat("x".repeat(100_000));
      return times;
    },
  };
}
