/**
 * Reports of a dead worker's tasks to the server, as nobody else will: it then hands them out again at once, instead
 * of after their time-outs. Only for profiles that say so, since no such report exists outside the lab.
 */
import { isGrpcServiceError, type Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { DeliveredTask } from "../taps/event.js";

/** gRPC's code for a task that is no longer open: it was answered before the process died, or has timed out. */
const notFound = 5;

const { WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE: cause } =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

/**
 * @param tasks that were delivered to the dead process and never answered; those that the server no longer knows are
 *   passed over
 * @throws what the server answers otherwise
 */
export async function reportDead(
  { workflowService }: Connection,
  namespace: string,
  tasks: readonly DeliveredTask[],
): Promise<void> {
  await Promise.all(
    tasks.map(async ({ kind, taskToken }) => {
      const report = {
        namespace,
        identity: "killproof-lab",
        taskToken: Buffer.from(taskToken, "base64"),
        failure: {
          message: "the worker was killed by the crash lab, which reports it",
          source: "killproof",
          applicationFailureInfo: { type: "WorkerKilled", nonRetryable: false },
        },
      };
      try {
        if (kind === "activity-task") await workflowService.respondActivityTaskFailed(report);
        else await workflowService.respondWorkflowTaskFailed({ ...report, cause });
      } catch (error) {
        if (!isGrpcServiceError(error) || (error.code as number) !== notFound) throw error;
      }
    }),
  );
}
