import { z } from "zod";

import type { StartMessage } from "../outbox/message.js";

const restartSchema = z.object({
  workflowId: z.string(),
  workflowType: z.string(),
  taskQueue: z.string(),
  args: z.array(z.json()),
  workflowTaskTimeoutMs: z.number().optional(),
  searchAttributes: z.record(z.string(), z.string()).optional(),
});

/** The message that starts the process of a question again; `undefined` when the question's evidence has none. */
export function restartIn(evidence: unknown): StartMessage | undefined {
  const parsed = z.object({ restart: restartSchema }).safeParse(evidence);
  if (!parsed.success) return undefined;
  const { workflowTaskTimeoutMs, searchAttributes, ...start } = parsed.data.restart;
  return {
    kind: "start",
    ...start,
    ...(workflowTaskTimeoutMs === undefined ? {} : { workflowTaskTimeoutMs }),
    ...(searchAttributes === undefined ? {} : { searchAttributes }),
    again: true,
  };
}
