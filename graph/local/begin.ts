import type { Applying } from "../core/apply.js";
import type { Checkpoint } from "../core/checkpoint.js";
import type { Program } from "../core/compile.js";
import { deliver } from "../core/deliver.js";
import { GraphError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { plain } from "../core/plain.js";
import { command, resume } from "../core/resume.js";
import type { GraphTypes } from "../core/types.js";
import { branchOf, fork, proceed, start, type StartSettings } from "../core/verbs.js";
import type { StoredCheckpoint } from "./checkpointer.js";
import type { OutsideCommand, Request } from "./types.js";

/** A checkpoint that a call stands on. */
export interface Ground {
  /** False: no checkpoints are kept, so there is nothing to go on with. */
  readonly isKept: boolean;
  readonly stored: StoredCheckpoint | undefined;
  /** Addressed by id, and the thread has moved past it. */
  readonly isSuperseded: boolean;
  readonly isAddressed: boolean;
}

export type AnyRequest = Request<GraphTypes>;

/**
 * What a request makes of the run that it stands on.
 *
 * @throws GraphError for a request that can't be taken; nothing is recorded then
 */
export function begin(program: Program, request: AnyRequest, ground: Ground, call: StartSettings): Applying {
  const { stored, isSuperseded } = ground;
  const last = isSuperseded ? stored!.committed : stored?.latest;
  if ("input" in request && (request.input !== null || last === undefined)) {
    const input = request.input === null ? null : plain(request.input, "input");
    return start(program, last, input, call);
  }
  if ("command" in request) return command(program, last, plainCommand(request.command), call);
  if (last === undefined) {
    if (!ground.isKept) throw noCheckpointer();
    throw new GraphError("EmptyInputError", "there is no run to go on with, and no input");
  }
  if ("event" in request) {
    const id = request.eventId ?? call.requestId;
    return deliver(program, last, {
      id,
      event: request.event,
      payload: plain(request.payload, "payload"),
    });
  }
  if ("answers" in request || "value" in request) return answer(program, request, ground, last, call);
  return goOn(program, ground, last, call);
}

function answer(
  program: Program,
  request: Extract<AnyRequest, { value: Json } | { answers: unknown }>,
  ground: Ground,
  last: Checkpoint,
  call: StartSettings,
): Applying {
  const change = plainCommand(request);
  const answering =
    "answers" in request
      ? { answers: plain(request.answers, "answers") as Record<string, Json> }
      : { value: plain(request.value, "answer") };
  const base = ground.isSuperseded ? onOwnBranch(last, call.requestId) : last;
  return resume(program, base, answering, { ...call, change });
}

function goOn(
  program: Program,
  { isSuperseded, isAddressed }: Ground,
  last: Checkpoint,
  call: StartSettings,
): Applying {
  if (isSuperseded) return fork(program, last, call);
  const { source } = last.frames[""]!.head;
  const isByHand = source === "update" || source === "fork";
  return isAddressed && isByHand
    ? fork(program, last, call, { keepHead: true })
    : proceed(program, last, call);
}

/** The error of whoever asks for what needs checkpoints where none are kept. */
export function noCheckpointer(): GraphError {
  return new GraphError("GraphValueError", "the runner keeps no checkpoints", "MISSING_CHECKPOINTER");
}

function plainCommand({ update, goto }: OutsideCommand): OutsideCommand {
  return {
    ...(update !== undefined && { update: plain(update, "update") }),
    ...(goto !== undefined && { goto: plain(goto, "goto") }),
  };
}

/** The older run, so that what comes from it gets ids of its own. */
function onOwnBranch(checkpoint: Checkpoint, requestId: string): Checkpoint {
  const root = checkpoint.frames[""]!;
  return {
    ...checkpoint,
    frames: { ...checkpoint.frames, "": { ...root, branch: branchOf(checkpoint, requestId) } },
  };
}
