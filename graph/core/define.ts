import type { Json } from "./json.js";
import type { Manifest } from "./manifest.js";
import type { NodeOptions, PolicyOptions, SubgraphOptions } from "./options.js";
import type { Schema, SchemaValue } from "./schema.js";
import type { Channels } from "./state.js";
import type { End, Start } from "./markers.js";
import type { DynamicTypes, GraphTypes, NodeName, NodeTypes, RouteTypes } from "./types.js";
import { Draft } from "./draft.js";

/** A validated graph: data, and the types that its code must have. */
export interface Graph<T extends GraphTypes = GraphTypes> {
  readonly name: string;
  readonly version: string;
  readonly manifest: Manifest;
  /** SHA-256 of the manifest's canonical JSON, lowercase hex. */
  readonly hash: string;
  readonly "~types"?: T;
}

/** The state of an object-state graph: one model. */
export interface ObjectState<Model> {
  readonly objectState: { readonly schema: Schema<Model>; readonly default?: Json };
  readonly "~model"?: Model;
}

/**
 * Makes the state one model: an update is merged one level deep, null keeps a field, `replace(model)` replaces all,
 * anything else is a `TypeError`.
 */
export function object<S extends Schema>(
  schema: S,
  options: { readonly default?: SchemaValue<S> } = {},
): ObjectState<SchemaValue<S>> {
  return {
    objectState: {
      schema: schema as Schema<SchemaValue<S>>,
      ...(options.default !== undefined && { default: options.default as Json }),
    },
  };
}

/** The type of the run context, which nodes read and no checkpoint keeps. */
export interface ContextType<Context> {
  readonly "~context"?: Context;
}

/** Says the type of the run context. */
export function context<Context>(): ContextType<Context> {
  return {};
}

export interface GraphDefinition<State, Input extends string, Output extends string, Context> {
  readonly name: string;
  /** The author's version of the graph. */
  readonly version: string;
  readonly state: State;
  /** Keys that a run's input may write; default: all. */
  readonly input?: readonly Input[];
  /** Keys that a run gives; default: all. */
  readonly output?: readonly Output[];
  readonly context?: ContextType<Context>;
  /** False: runs keep no checkpoint. Default true. */
  readonly resumable?: boolean;
  /** Policies of the nodes that have none; `onError` gives them the code's error handler `"*"`. */
  readonly defaults?: PolicyOptions & { readonly onError?: boolean };
  readonly interruptBefore?: readonly string[] | "*";
  readonly interruptAfter?: readonly string[] | "*";
}

/** The types with some parts replaced, spelled out so that an error message stays readable. */
type With<T extends GraphTypes, Part extends Partial<GraphTypes>> = {
  readonly [K in keyof GraphTypes]: K extends keyof Part
    ? Part[K] extends GraphTypes[K]
      ? Part[K]
      : never
    : T[K];
};
type WithNode<
  T extends GraphTypes,
  Name extends string,
  Node extends NodeTypes,
  Handler extends string,
> = With<T, { readonly nodes: T["nodes"] & Record<Name, Node>; readonly handlers: T["handlers"] | Handler }>;
type StateKey<T extends GraphTypes> = keyof T["state"] & string;
type Source<T extends GraphTypes> = NodeName<T> | Start;
type Target<T extends GraphTypes> = NodeName<T> | End;

/** Collects a graph part by part; `build` validates it. A node must be added before an edge names it. */
export class GraphBuilder<T extends GraphTypes> {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Adds a node with code of its own. */
  node<
    const Name extends string,
    ArgSchema extends Schema = Schema,
    const Sees extends StateKey<T> = StateKey<T>,
    const OnError extends boolean = false,
  >(
    name: Name,
    options: NodeOptions<Sees, string, ArgSchema> & { readonly onError?: OnError } = {},
  ): GraphBuilder<
    WithNode<
      T,
      Name,
      { readonly arg: SchemaValue<ArgSchema>; readonly sees: Sees; readonly subgraph: undefined },
      OnError extends true ? Name : never
    >
  > {
    this.#draft.node(name, options);
    return this as never;
  }

  /** Adds a graph as a node: keys of the same name pass in and out. */
  subgraph<
    const Name extends string,
    Child extends GraphTypes,
    const Sees extends StateKey<T> = StateKey<T>,
    const OnError extends boolean = false,
  >(
    name: Name,
    graph: Graph<Child>,
    options: SubgraphOptions<Sees, string> & { readonly onError?: OnError } = {},
  ): GraphBuilder<
    WithNode<
      T,
      Name,
      { readonly arg: unknown; readonly sees: Sees; readonly subgraph: Child },
      OnError extends true ? Name : never
    >
  > {
    this.#draft.subgraph(name, graph.manifest, options);
    return this as never;
  }

  /** `to` runs in the step after `from`. */
  edge(from: Source<T>, to: Target<T>): this {
    this.#draft.edge(from, to);
    return this;
  }

  /** `to` runs once after all of `from` have run, in whatever steps that was. */
  join(from: readonly NodeName<T>[], to: NodeName<T>): this {
    this.#draft.join(from, to);
    return this;
  }

  /**
   * The code's route of this name chooses what runs after `from`. `targets` lists the nodes, or maps the route's
   * answers to nodes. The name is the node's unless given.
   */
  route<const From extends Source<T>, const To extends Target<T>, const Name extends string = From>(
    from: From,
    targets: readonly To[],
    options?: { readonly name?: Name },
  ): GraphBuilder<
    With<
      T,
      {
        readonly routes: T["routes"] &
          Record<Name, { readonly answers: To; readonly nodes: Exclude<To, End> }>;
      }
    >
  >;
  route<
    const From extends Source<T>,
    const Labels extends Readonly<Record<string, Target<T>>>,
    const Name extends string = From,
  >(
    from: From,
    targets: Labels,
    options?: { readonly name?: Name },
  ): GraphBuilder<
    With<
      T,
      {
        readonly routes: T["routes"] &
          Record<
            Name,
            { readonly answers: keyof Labels & string; readonly nodes: Exclude<Labels[keyof Labels], End> }
          >;
      }
    >
  >;
  route(
    from: string,
    targets: readonly string[] | Readonly<Record<string, string>>,
    options: { readonly name?: string } = {},
  ): never {
    this.#draft.route(from, targets, options.name ?? from);
    return this as never;
  }

  /** Declares an event that routes and commands may wait for; the code's event handler puts its payload into the state. */
  event<const Name extends string, PayloadSchema extends Schema = Schema<Json>>(
    name: Name,
    options: { readonly schema?: PayloadSchema } = {},
  ): GraphBuilder<With<T, { readonly events: T["events"] & Record<Name, SchemaValue<PayloadSchema>> }>> {
    this.#draft.event(name, options.schema);
    return this as never;
  }

  /**
   * Validates the graph and gives it its manifest and hash.
   *
   * @throws GraphError `UnreachableNodeError` or `GraphDefinitionError`, naming the place
   */
  build(): Graph<T> {
    return this.#draft.build() as Graph<T>;
  }
}

/** Begins a graph whose types follow from what is added to it. */
export function defineGraph<
  const C extends Channels,
  const Input extends keyof C & string = keyof C & string,
  const Output extends keyof C & string = keyof C & string,
  Context = unknown,
  const Defaults extends boolean = false,
>(
  definition: GraphDefinition<C, Input, Output, Context> & {
    readonly defaults?: PolicyOptions & { readonly onError?: Defaults };
  },
): GraphBuilder<{
  readonly state: C;
  readonly model: unknown;
  readonly input: Input;
  readonly output: Output;
  readonly nodes: Record<never, NodeTypes>;
  readonly routes: Record<never, RouteTypes>;
  readonly events: Record<never, unknown>;
  readonly handlers: Defaults extends true ? "*" : never;
  readonly context: Context;
}>;
export function defineGraph<Model, Context = unknown, const Defaults extends boolean = false>(
  definition: Omit<GraphDefinition<ObjectState<Model>, never, never, Context>, "input" | "output"> & {
    readonly defaults?: PolicyOptions & { readonly onError?: Defaults };
  },
): GraphBuilder<{
  readonly state: Record<never, never>;
  readonly model: Model;
  readonly input: never;
  readonly output: never;
  readonly nodes: Record<never, NodeTypes>;
  readonly routes: Record<never, RouteTypes>;
  readonly events: Record<never, unknown>;
  readonly handlers: Defaults extends true ? "*" : never;
  readonly context: Context;
}>;
export function defineGraph(definition: GraphDefinition<unknown, string, string, unknown>): never {
  return new GraphBuilder(new Draft(definition)) as never;
}

/** A graph made from data: any name is taken, and what would be a type error is a build error. */
export function defineDynamicGraph(
  definition: GraphDefinition<Channels, string, string, unknown>,
): GraphBuilder<DynamicTypes> {
  return new GraphBuilder<DynamicTypes>(new Draft(definition));
}
