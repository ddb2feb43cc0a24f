import type { GraphCode } from "./code.js";
import { GraphError } from "./errors.js";
import type { Manifest } from "./manifest.js";
import type { GraphTypes } from "./types.js";

/** Graphs with their code, found by name (the one registered last) and by `name@hash` (exactly that one). */
export class GraphRegistry {
  readonly #exact = new Map<string, GraphCode>();
  readonly #newest = new Map<string, GraphCode>();

  /**
   * Adds a graph. Further versions of a name are kept beside it, for runs that began with them.
   *
   * @throws GraphError `GraphRegistryError` with code `DUPLICATE_GRAPH` when the same name and hash are there already
   */
  register<T extends GraphTypes>(code: GraphCode<T>): this {
    const { name, hash } = code.graph;
    const key = `${name}@${hash}`;
    if (this.#exact.has(key))
      throw new GraphError("GraphRegistryError", `graph "${key}" is registered already`, "DUPLICATE_GRAPH");
    this.#exact.set(key, code as unknown as GraphCode);
    this.#newest.set(name, code as unknown as GraphCode);
    return this;
  }

  /**
   * The code of a graph.
   *
   * @param reference a name, or `name@hash`
   * @throws GraphError `GraphRegistryError` with code `UNKNOWN_GRAPH`; another worker may know it, so it is worth a
   *   retry
   */
  get(reference: string): GraphCode {
    const found = this.#exact.get(reference) ?? this.#newest.get(reference);
    if (found === undefined)
      throw new GraphError(
        "GraphRegistryError",
        `graph "${reference}" isn't registered here; registered are: ${[...this.#exact.keys()].join(", ") || "none"}`,
        "UNKNOWN_GRAPH",
      );
    return found;
  }

  has(reference: string): boolean {
    return this.#exact.has(reference) || this.#newest.has(reference);
  }

  /** The manifests of all graphs that can be run, in the order of their registration. */
  manifests(): readonly { readonly name: string; readonly hash: string; readonly manifest: Manifest }[] {
    return [...this.#exact.values()].map(({ graph: { name, hash, manifest } }) => ({ name, hash, manifest }));
  }
}
