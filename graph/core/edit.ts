import type { Checkpoint, Frame, Head } from "./checkpoint.js";
import { finish, type Applying } from "./apply.js";
import { freshHead, removeBelow, withoutUntracked } from "./child.js";
import type { CompiledGraph, Program } from "./compile.js";
import { GraphError } from "./errors.js";
import { hashId } from "./hash.js";
import type { Json } from "./json.js";
import { END, START } from "./markers.js";
import { nextHead } from "./move.js";
import { prepare } from "./prepare.js";
import { withFinished } from "./update.js";
import { Working } from "./working.js";
import { write } from "./write.js";

/** As `asNode`: the values are a new input. */
export const AS_INPUT = "__input__";
/** As `asNode`: the checkpoint is copied as a sibling of itself. */
export const AS_COPY = "__copy__";

/** One entry of an update by hand. */
export interface Edit {
  readonly values: Json;
  readonly asNode?: string;
}

/** Where and how an update by hand applies. */
export interface EditSettings {
  readonly requestId: string;
  /** Logical id of the run that a fresh thread gets. */
  readonly run: string;
  /** Namespace of the frame; default: the root. */
  readonly namespace?: string;
  /** True: the newest state of the thread, so finished tasks of the running step count. */
  readonly takesFinished: boolean;
}

function refuse(message: string): never {
  throw new GraphError("InvalidUpdateError", message);
}

/**
 * The node that wrote last: the one that has seen the newest version. A fresh state is written as its input.
 *
 * @throws GraphError `InvalidUpdateError` when several wrote last
 */
function lastWriter(graph: CompiledGraph, head: Head): string {
  const seen = Object.entries(head.seen)
    .filter(([node]) => graph.nodes.has(node))
    .flatMap(([node, versions]) => Object.values(versions).map((version) => ({ node, version })))
    .sort((a, b) => a.version - b.version);
  const last = seen.at(-1);
  if (last === undefined) return START;
  if (seen.at(-2)?.version === last.version) refuse('Ambiguous update, specify "asNode"');
  return last.node;
}

function emptyRun(program: Program, run: string): Checkpoint {
  const root: Frame = {
    path: "",
    parent: null,
    branch: "",
    head: { ...freshHead(program.root), step: -1 },
    stop: 0,
    status: "running",
    pending: {},
  };
  const { manifest } = program.root;
  return {
    format: 1,
    run,
    status: "breakpoint",
    recursionLimit: 1,
    interruptBefore: [],
    interruptAfter: [],
    resumable: manifest.resumable,
    frames: { "": root },
    inbox: [],
  };
}

/** Puts a new head into the frame; the run rests then. */
function rest(work: Working, namespace: string, frame: Frame, head: Head, branch: string): Applying {
  const graph = work.graph(frame);
  removeBelow(work, namespace, graph, prepare(graph, frame.head));
  const { update: _update, error: _error, command: _command, ...kept } = frame;
  work.set(namespace, { ...kept, branch, head, status: "running", pending: {} });
  work.committed(namespace, []);
  const done =
    prepare(work.program.root, work.root().head).length === 0 && work.root().head.waits.length === 0;
  if (done) work.patch("", { status: "done" });
  return { checkpoint: work.finish({ status: done ? "done" : "breakpoint" }), events: work.events };
}

/** The state with what has finished, for a state that is edited as it stands. */
function settledBody(graph: CompiledGraph, frame: Frame, takesFinished: boolean) {
  if (!takesFinished) return frame.head;
  const settled = withFinished(graph, frame);
  if ("needs" in settled)
    refuse(
      "finished tasks wait for a reducer that is code, so this kind of update can't be made now; continue the run first",
    );
  return settled.body;
}

function whole(
  work: Working,
  namespace: string,
  frame: Frame,
  edit: Edit,
  settings: EditSettings,
): Applying | undefined {
  const graph = work.graph(frame);
  const branch = hashId(frame.head.id, settings.requestId);
  if (edit.values === null && edit.asNode === undefined) {
    const head = nextHead(work, frame, { body: frame.head, written: [], source: "update", branch });
    return rest(work, namespace, frame, head, branch);
  }
  if (edit.values === null && edit.asNode === END) {
    const dropped = prepare(graph, frame.head).map((task) => ({
      node: task.kind === "node" ? task.node : undefined,
      triggers: task.triggers,
      result: undefined,
      fires: false,
    }));
    const body = settledBody(graph, frame, settings.takesFinished);
    const cleared = write(graph, { ...body, waits: [] }, dropped, { counts: true, reduced: new Map() }).body;
    const head = nextHead(work, frame, { body: cleared, written: [], source: "update", branch });
    return rest(work, namespace, frame, head, branch);
  }
  if (edit.asNode === AS_COPY) {
    const copy = nextHead(work, frame, { body: frame.head, written: [], source: "fork", branch });
    return rest(work, namespace, frame, { ...copy, parentId: frame.head.parentId }, branch);
  }
  if (edit.asNode !== AS_INPUT) return undefined;
  if (edit.values === null) refuse("an update as input needs values");
  const body = withoutUntracked(graph, frame.head.values);
  const written = write(
    graph,
    { ...frame.head, values: body },
    [],
    { counts: false, reduced: new Map() },
    { value: edit.values },
  );
  const head = nextHead(work, frame, { body: written.body, written: [], source: "input", branch });
  return rest(work, namespace, frame, head, branch);
}

/**
 * Updates the state by hand, as one step: the reducers, edges and routes of the named nodes apply as if they had given
 * these values. Routes are code, so the run may have tasks to run before the step is there; afterwards it rests.
 *
 * `null` without a node copies the checkpoint, `null` as END drops the tasks that were to run.
 *
 * @param edits the entries of the step, in the order in which they apply
 * @throws GraphError `InvalidUpdateError`: an unknown node, or an entry without a node where it can't be told
 */
export function update(
  program: Program,
  checkpoint: Checkpoint | undefined,
  edits: readonly Edit[],
  settings: EditSettings,
): Applying {
  if (edits.length === 0) refuse("the update has no entries");
  const namespace = settings.namespace ?? "";
  const base = checkpoint ?? emptyRun(program, settings.run);
  const frame = base.frames[namespace];
  if (frame === undefined) refuse(`the run has no state at "${namespace}"`);
  const work = new Working(program, base);
  const graph = work.graph(frame);
  const [first] = edits;
  if (edits.length === 1) {
    const start =
      checkpoint === undefined && first!.asNode === AS_INPUT
        ? { ...frame, head: { ...frame.head, step: -2 } }
        : frame;
    const done = whole(work, namespace, start, first!, settings);
    if (done !== undefined) return done;
  } else {
    if (edits.some((edit) => edit.asNode === undefined))
      refuse('"asNode" is required when a step has several updates');
    if (
      edits.some(
        (edit) =>
          edit.asNode === AS_INPUT ||
          edit.asNode === AS_COPY ||
          (edit.asNode === END && edit.values === null),
      )
    )
      refuse("an update as input, as a copy or as END stands alone in its step");
  }
  const finished = settings.takesFinished ? withFinished(graph, frame) : { body: frame.head };
  const seenHead = "body" in finished ? { ...frame.head, seen: finished.body.seen } : frame.head;
  const updates = edits.map((edit) => {
    const node = edit.asNode ?? lastWriter(graph, seenHead);
    if (!graph.nodes.has(node)) refuse(`node "${node}" does not exist`);
    return { node, values: edit.values };
  });
  const { error: _error, ...rested } = frame;
  work.set(namespace, {
    ...rested,
    status: "running",
    update: {
      branch: hashId(frame.head.id, settings.requestId),
      takesFinished: settings.takesFinished,
      updates,
    },
  });
  const applied = finish(work, namespace);
  return failedUpdate(applied, namespace) ?? applied;
}

/** An update that can't be applied leaves nothing behind: it is an error of the call. */
function failedUpdate(applied: Applying, namespace: string): undefined {
  const frame = applied.checkpoint.frames[namespace]!;
  if (frame.update === undefined || frame.error === undefined) return undefined;
  throw Object.assign(new GraphError("InvalidUpdateError", frame.error.message, frame.error.code), {
    name: frame.error.name,
  });
}
