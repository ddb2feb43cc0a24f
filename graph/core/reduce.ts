import type { Frame } from "./checkpoint.js";
import { needsCode } from "./channels.js";
import type { CompiledGraph } from "./compile.js";
import { hashId } from "./hash.js";
import type { Json, JsonObject } from "./json.js";
import { sortOut } from "./reducers.js";

/** A channel whose new value the code's own reducer has to tell. */
export interface ReduceNeed {
  readonly id: string;
  readonly channel: string;
  /** Name of the reducer in the code. */
  readonly reducer: string;
  readonly current: Json | undefined;
  readonly updates: readonly Json[];
}

/** The reductions of a step: values that are there, and what is still needed. */
export interface Reductions {
  readonly values: ReadonlyMap<string, Json>;
  readonly needs: readonly ReduceNeed[];
}

const nothing: Reductions = { values: new Map(), needs: [] };

/**
 * What the code's own reducers have told about the writes of a step, and what they have still to tell.
 *
 * @param tag sets apart several reductions over one head
 * @throws GraphError `InvalidUpdateError` for two overwrites
 */
export function reductions(
  graph: CompiledGraph,
  frame: Frame,
  values: JsonObject,
  groups: ReadonlyMap<string, readonly Json[]>,
  tag: string,
): Reductions {
  const told = new Map<string, Json>();
  const needs: ReduceNeed[] = [];
  for (const [channel, writes] of groups) {
    const rule = graph.channels.get(channel)!;
    if (!needsCode(rule, values[channel], writes, channel)) continue;
    const id = hashId(frame.head.id, "reduce", tag, channel);
    const record = frame.pending[id];
    if (record?.status === "done") told.set(channel, record.result.value!);
    else needs.push({ id, channel, reducer: rule.name!, ...sortOut(values[channel], writes, channel) });
  }
  return told.size === 0 && needs.length === 0 ? nothing : { values: told, needs };
}
