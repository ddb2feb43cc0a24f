import { instance } from "@viz-js/viz";
import type { Manifest } from "../core/manifest.js";
import { toDot, type NodeStates } from "../core/picture.js";

let drawing: ReturnType<typeof instance> | undefined;

/** The graph as an SVG document, the nodes of a run coloured by how they stand. Graphviz runs in this process. */
export async function toSvg(manifest: Manifest, states: NodeStates = {}): Promise<string> {
  const viz = await (drawing ??= instance());
  return viz.renderString(toDot(manifest, states), { format: "svg" });
}
