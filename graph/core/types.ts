import type { Json } from "./json.js";
import type { Command, End, Overwrite, Replace, Send, Wait } from "./markers.js";
import type { ChannelRule, Channels, ChannelUpdate, ChannelValue } from "./state.js";

/** What is known of a node at compile time. */
export interface NodeTypes {
  /** Type of the argument, `unknown` when none is declared. */
  readonly arg: unknown;
  /** The keys that the node sees. */
  readonly sees: string;
  /** The types of the graph behind a subgraph node, or `undefined`. */
  readonly subgraph: GraphTypes | undefined;
}

/** What is known of a route: what it may answer and where it may lead. */
export interface RouteTypes {
  readonly answers: string;
  readonly nodes: string;
}

/** What is known of a graph at compile time. */
export interface GraphTypes {
  readonly state: Channels;
  /** The model of an object-state graph, `undefined` for channels. */
  readonly model: unknown;
  readonly input: string;
  readonly output: string;
  readonly nodes: Record<string, NodeTypes>;
  readonly routes: Record<string, RouteTypes>;
  readonly events: Record<string, unknown>;
  /** Names of the error handlers. */
  readonly handlers: string;
  readonly context: unknown;
}

type Values<C extends Channels> = { readonly [K in keyof C]: ChannelValue<C[K]> };
type Updates<C extends Channels> = { readonly [K in keyof C]?: ChannelUpdate<C[K]> };

/** The state as a node sees it. A `last` channel without a default is absent until it is written. */
export type StateOf<T extends GraphTypes> = unknown extends T["model"] ? Values<T["state"]> : T["model"];

/** What a node may return to change the state. */
export type UpdateOf<T extends GraphTypes> = unknown extends T["model"]
  ? Updates<T["state"]>
  : { readonly [K in keyof T["model"]]?: T["model"][K] } | Replace<T["model"]>;

/** What starts a run. */
export type InputOf<T extends GraphTypes> = unknown extends T["model"]
  ? Pick<Updates<T["state"]>, T["input"] & keyof T["state"]>
  : { readonly [K in keyof T["model"]]?: T["model"][K] } | Replace<T["model"]>;

/** What a run gives. */
export type OutputOf<T extends GraphTypes> = unknown extends T["model"]
  ? Partial<Pick<Values<T["state"]>, T["output"] & keyof T["state"]>>
  : T["model"];

export type NodeName<T extends GraphTypes> = keyof T["nodes"] & string;
export type EventName<T extends GraphTypes> = keyof T["events"] & string;

/** The nodes that have code of their own. */
export type CodeNode<T extends GraphTypes> = {
  [N in NodeName<T>]: T["nodes"][N]["subgraph"] extends GraphTypes ? never : N;
}[NodeName<T>];

/** The nodes that are graphs. */
export type SubgraphNode<T extends GraphTypes> = Exclude<NodeName<T>, CodeNode<T>>;

/** What a node's code gets: its argument when one is declared, else the keys that it sees. */
export type NodeInput<T extends GraphTypes, N extends NodeName<T>> = unknown extends T["nodes"][N]["arg"]
  ? unknown extends T["model"]
    ? Pick<Values<T["state"]>, T["nodes"][N]["sees"] & keyof T["state"]>
    : T["model"]
  : T["nodes"][N]["arg"];

/** What `send` may hand to a node. */
export type SendArgument<T extends GraphTypes, N extends NodeName<T>> = unknown extends T["nodes"][N]["arg"]
  ? Partial<StateOf<T>>
  : T["nodes"][N]["arg"];

/** A `send` to one of the nodes, with the argument that the node takes. */
export type SendTo<T extends GraphTypes, N extends NodeName<T> = NodeName<T>> = {
  [Name in N]: Send<Name, SendArgument<T, Name>>;
}[N];

/** Where a node's command may lead. */
export type Goto<T extends GraphTypes> = NodeName<T> | End | SendTo<T> | Wait<EventName<T>, NodeName<T>>;

/** A command of a node: for its own graph, or (names unchecked) for the graph around it. */
export type CommandOf<T extends GraphTypes> =
  | {
      readonly $command: {
        readonly update?: UpdateOf<T>;
        readonly goto?: Goto<T> | readonly Goto<T>[];
        readonly graph?: undefined;
      };
    }
  | (Command & { readonly $command: { readonly graph: "PARENT" } });

/** What a node may return. Nothing or null: no update. */
export type NodeResult<T extends GraphTypes> =
  UpdateOf<T> | CommandOf<T> | SendTo<T> | readonly (CommandOf<T> | UpdateOf<T>)[] | null | undefined | void;

/** What a route may answer. */
export type RouteAnswer<T extends GraphTypes, R extends RouteTypes> =
  R["answers"] | SendTo<T, R["nodes"] & NodeName<T>> | Wait<EventName<T>, NodeName<T>>;

/** The names of the custom reducers of a state. */
export type CustomReducer<C extends Channels> = {
  [K in keyof C]: C[K] extends { readonly rule: { readonly name: infer Name extends string } } ? Name : never;
}[keyof C];

/** The value and update types of a custom reducer. */
export type CustomReducerOf<C extends Channels, Name extends string> = {
  [K in keyof C]: C[K] extends { readonly rule: { readonly name: Name } }
    ? (value: ChannelValue<C[K]>, update: Exclude<ChannelUpdate<C[K]>, Overwrite>) => ChannelValue<C[K]>
    : never;
}[keyof C];

/** Types of a graph that is made from data, where no name is known at compile time. */
export interface DynamicTypes extends GraphTypes {
  readonly state: Record<
    string,
    { readonly rule: ChannelRule; readonly "~value"?: Json; readonly "~update"?: Json }
  >;
  readonly nodes: Record<
    string,
    { readonly arg: unknown; readonly sees: string; readonly subgraph: undefined }
  >;
  readonly routes: Record<string, RouteTypes>;
  readonly events: Record<string, Json>;
  readonly handlers: string;
}
