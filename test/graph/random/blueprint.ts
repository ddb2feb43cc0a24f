import fc from "fast-check";

/**
 * A graph and its run as numbers, so that it can be drawn and made smaller: a node names earlier nodes by index, so
 * any list of nodes is a graph, and taking one out leaves one.
 */
export interface NodeBlueprint {
  /** Draws the first letter of the name, so that the order of names isn't the order of declaration. */
  readonly letter: number;
  readonly entry: EntryBlueprint;
  /** Channels that it logs, as indexes. */
  readonly sees: readonly number[];
  readonly writes: readonly { readonly channel: number; readonly value: number }[];
  readonly asks: 0 | 1 | 2;
  readonly fault: "none" | "retry" | "fail" | "handled";
  readonly defer: boolean;
  /** Sees only the channels of `sees`. */
  readonly narrow: boolean;
  readonly routeMayEnd: boolean;
  readonly subgraph: SubgraphBlueprint | undefined;
}

/** How a node is reached from earlier ones; index 0 is START. */
export interface EntryBlueprint {
  readonly how: "edge" | "join" | "route" | "goto" | "sendByRoute" | "sendByGoto";
  readonly from: readonly number[];
  /** For sends: how many. */
  readonly packets: number;
}

export interface SubgraphBlueprint {
  readonly nodes: readonly NodeBlueprint[];
  readonly perThread: boolean;
  /** Keys that the subgraph shares with its parent beside `log`, as a number of channels. */
  readonly shared: number;
}

export interface Blueprint {
  readonly nodes: readonly NodeBlueprint[];
  /** A route from one node back to an earlier one while the log is shorter than `until`. */
  readonly loop: { readonly from: number; readonly to: number; readonly until: number } | undefined;
  readonly input: readonly { readonly channel: number; readonly value: number }[];
  /** Stops before each step, so that every superstep is a call of its own. */
  readonly stepped: boolean;
  /** Runs with a second input on the same thread when the first has ended. */
  readonly secondInput: boolean;
  readonly recursionLimit: number | undefined;
  /** Decides, call by call, which questions are answered. */
  readonly choices: readonly number[];
}

const write = fc.record({ channel: fc.nat(20), value: fc.nat(9) });

const entry: fc.Arbitrary<EntryBlueprint> = fc.record({
  how: fc.oneof(
    { weight: 5, arbitrary: fc.constant("edge" as const) },
    { weight: 2, arbitrary: fc.constant("join" as const) },
    { weight: 3, arbitrary: fc.constant("route" as const) },
    { weight: 2, arbitrary: fc.constant("goto" as const) },
    { weight: 1, arbitrary: fc.constant("sendByRoute" as const) },
    { weight: 1, arbitrary: fc.constant("sendByGoto" as const) },
  ),
  from: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
  packets: fc.integer({ min: 1, max: 3 }),
});

const seldom = (weight: number) =>
  fc.oneof({ weight, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });

const fault = fc.oneof(
  { weight: 12, arbitrary: fc.constant("none" as const) },
  { weight: 1, arbitrary: fc.constant("retry" as const) },
  { weight: 1, arbitrary: fc.constant("fail" as const) },
  { weight: 1, arbitrary: fc.constant("handled" as const) },
);

const asks = fc.oneof(
  { weight: 14, arbitrary: fc.constant(0 as const) },
  { weight: 2, arbitrary: fc.constant(1 as const) },
  { weight: 1, arbitrary: fc.constant(2 as const) },
);

const plainNode = {
  letter: fc.nat(25),
  entry,
  sees: fc.array(fc.nat(20), { maxLength: 2 }),
  writes: fc.array(write, { maxLength: 3 }),
  asks,
  fault,
  defer: seldom(9),
  narrow: seldom(9),
  routeMayEnd: fc.boolean(),
};

const innerNode: fc.Arbitrary<NodeBlueprint> = fc.record({ ...plainNode, subgraph: fc.constant(undefined) });

const subgraph: fc.Arbitrary<SubgraphBlueprint> = fc.record({
  nodes: fc.array(innerNode, { minLength: 1, maxLength: 3 }),
  perThread: seldom(4),
  shared: fc.nat(6),
});

const outerNode: fc.Arbitrary<NodeBlueprint> = fc.record({
  ...plainNode,
  subgraph: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: subgraph }),
});

export const blueprint: fc.Arbitrary<Blueprint> = fc.record({
  nodes: fc.array(outerNode, { minLength: 1, maxLength: 9 }),
  loop: fc.option(fc.record({ from: fc.nat(20), to: fc.nat(20), until: fc.integer({ min: 1, max: 16 }) }), {
    freq: 2,
    nil: undefined,
  }),
  input: fc.array(write, { maxLength: 3 }),
  stepped: seldom(3),
  secondInput: seldom(3),
  recursionLimit: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }) },
  ),
  choices: fc.array(fc.nat(1000), { maxLength: 16 }),
});
