import type { Checkpoint, InboxEvent } from "./checkpoint.js";
import { finish, type Applying } from "./apply.js";
import type { Program } from "./compile.js";
import { GraphError } from "./errors.js";
import { has, type Json } from "./json.js";
import { framesBelow } from "./questions.js";
import { schemaProblem } from "./schema-check.js";
import { withDeliveries } from "./write.js";
import { Working } from "./working.js";

/**
 * Refuses an event that no graph of the program declares, or whose payload doesn't fit.
 *
 * @throws GraphError `GraphValueError` with code `UNKNOWN_EVENT` or `INVALID_PAYLOAD`
 */
export function checkEvent(program: Program, event: string, payload: Json): void {
  const declared = [...program.graphs.values()].filter((graph) => has(graph.manifest.events, event));
  if (declared.length === 0) {
    const known = [...program.graphs.values()].flatMap((graph) => Object.keys(graph.manifest.events));
    throw new GraphError(
      "GraphValueError",
      `event "${event}" isn't declared; declared are: ${known.join(", ") || "none"}`,
      "UNKNOWN_EVENT",
    );
  }
  const problems = declared.map((graph) => {
    const { schema } = graph.manifest.events[event]!;
    return schema === undefined ? undefined : schemaProblem(payload, schema, `payload of event "${event}"`);
  });
  if (problems.every((problem) => problem !== undefined))
    throw new GraphError("GraphValueError", problems[0]!, "INVALID_PAYLOAD");
}

/**
 * Hands an event to the oldest wait for it, the root's before those of subgraphs; without one it is kept until a wait
 * comes. An event with the id of one that is still kept is the same event.
 *
 * @throws GraphError `GraphValueError`
 */
export function deliver(program: Program, checkpoint: Checkpoint, event: InboxEvent): Applying {
  checkEvent(program, event.event, event.payload);
  const work = new Working(program, checkpoint);
  for (const [namespace, frame] of framesBelow(program, checkpoint, "")) {
    const wait = frame.head.waits.find((open) => open.event === event.event);
    if (wait === undefined) continue;
    const body = withDeliveries(frame.head, [{ wait, payload: event.payload }]);
    work.patch(namespace, {
      head: { ...frame.head, ...body },
      stop: frame.head.step + checkpoint.recursionLimit + 2,
    });
    return finish(work);
  }
  if (!work.inbox.some((kept) => kept.id === event.id)) work.inbox = [...work.inbox, event];
  return { checkpoint: work.finish({}), events: [] };
}

/** Ends a wait whose deadline has come: its node for that case is woken, or the run fails. */
export function expireWait(program: Program, checkpoint: Checkpoint, waitId: string): Applying {
  const work = new Working(program, checkpoint);
  for (const [namespace, frame] of framesBelow(program, checkpoint, "")) {
    const wait = frame.head.waits.find((open) => open.id === waitId);
    if (wait === undefined) continue;
    const body = withDeliveries(frame.head, [{ wait }]);
    work.patch(namespace, { head: { ...frame.head, ...body } });
    return finish(work);
  }
  throw new GraphError("UnknownInterruptError", `wait "${waitId}" isn't open`);
}
