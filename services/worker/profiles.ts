/** How the worker is tuned. The policies in a workflow's input have their own figures; these belong to the process. */
import type { WorkerOptions } from "@temporalio/worker";

export type ProfileName = "production" | "quick";

export type WorkerProfile = Pick<
  WorkerOptions,
  | "stickyQueueScheduleToStartTimeout"
  | "maxHeartbeatThrottleInterval"
  | "defaultHeartbeatThrottleInterval"
  | "maxEagerActivityReservationsPerWorkflowTask"
  | "shutdownGraceTime"
  | "shutdownForceTime"
>;

export const workerProfiles: Readonly<Record<ProfileName, WorkerProfile>> = {
  production: {
    // A workflow task waits this long for the worker that has the run in its cache. Too short throws good caches
    // away whenever a worker is busy; too long delays every run of a dead worker by it.
    stickyQueueScheduleToStartTimeout: "10s",
    // The SDK holds beats back up to 0.8 of the time-out, which leaves room for none to be lost. A quarter of the
    // production heartbeat time-out of 10 s lets our own interval decide.
    maxHeartbeatThrottleInterval: "2500ms",
    defaultHeartbeatThrottleInterval: "2500ms",
    // Saves a round trip for the first activities after a workflow task.
    maxEagerActivityReservationsPerWorkflowTask: 3,
    // An activity in the middle of a posting gets time to hear the answer and record it; without it, every deploy
    // would leave postings that have to be asked about.
    shutdownGraceTime: "30s",
    shutdownForceTime: "60s",
  },
  /**
   * For demos and tests, where recovery has to be seen within a second and a false alarm costs nothing but a retry.
   * Measured: with these and a heartbeat time-out of 500 ms the next attempt starts about 530 ms after a kill.
   */
  quick: {
    stickyQueueScheduleToStartTimeout: "100ms",
    maxHeartbeatThrottleInterval: "50ms",
    defaultHeartbeatThrottleInterval: "50ms",
    // Activities then always come by a poll, in the same order of calls on every run.
    maxEagerActivityReservationsPerWorkflowTask: 0,
    shutdownGraceTime: "2s",
    shutdownForceTime: "5s",
  },
};
