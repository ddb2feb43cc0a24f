/**
 * The faults that an outside system can be told to have, as data. Each belongs to one run, so that many runs can
 * share a world: it touches only requests whose business key carries the run's token as a delimited part.
 * All durations are in milliseconds, by the world's own clock.
 */
import { z } from "zod";

export const systems = ["accounting", "documents", "mail"] as const;
export type System = (typeof systems)[number];

/** What each system can be asked to do. */
export const operationsOf = {
  accounting: ["post", "find"],
  documents: ["fetch"],
  mail: ["send"],
} as const satisfies Record<System, readonly string[]>;
export type Operation = (typeof operationsOf)[System][number];
const operations = ["post", "find", "fetch", "send"] as const satisfies readonly Operation[];

/** The codes with which a system refuses for good: nothing was done and this request never will be. */
export const refusalCodes = {
  accounting: ["period-closed", "supplier-blocked", "account-missing", "currency-not-kept"],
  documents: [],
  mail: ["recipient-refused", "sender-blocked"],
} as const satisfies Record<System, readonly string[]>;

/** Where each kind of fault makes sense. */
export const operationsOfKind = {
  slow: ["post", "find", "fetch", "send"],
  dropAnswer: ["post", "find", "fetch", "send"],
  unavailable: ["post", "find", "fetch", "send"],
  lateCommit: ["post", "send"],
  errorAfterCommit: ["post", "send"],
  exists: ["post"],
  uniqueNumber: ["post"],
  keysExpire: ["post", "send"],
  noKeys: ["post", "send"],
  noFind: ["find"],
  lookupLag: ["find"],
  refuse: ["post", "send"],
} as const satisfies Record<string, readonly Operation[]>;
export type FaultKind = keyof typeof operationsOfKind;
export const faultKinds = Object.keys(operationsOfKind) as FaultKind[];

/** Ten minutes: past any time-out of a client that a story could want to outlast. */
const durationMsMax = 600_000;
const timesMax = 1_000;

const durationMs = (from: number) =>
  z
    .int(`must be a whole number of milliseconds from ${from} to ${durationMsMax}`)
    .min(from, `must be at least ${from} ms`)
    .max(durationMsMax, `must be at most ${durationMsMax} ms`);

/** Letters and digits only: then a token can't be the beginning of another, and its delimiters are all the rest. */
export const runTokenSchema = z
  .string("must be the token of a run: 1 to 64 letters and digits")
  .regex(/^[A-Za-z0-9]{1,64}$/, "must be 1 to 64 letters and digits");

const common = {
  run: runTokenSchema,
  system: z.enum(systems, `must be one of ${systems.join(", ")}`),
  /** Left out: every operation of the system to which the kind applies. */
  operation: z.enum(operations, `must be one of ${operations.join(", ")}`).optional(),
  /** How many matching requests it touches. Left out: all of them, until it is removed. */
  times: z
    .int(`must be a whole number from 1 to ${timesMax}`)
    .min(1, "must be at least 1")
    .max(timesMax, `must be at most ${timesMax}`)
    .optional(),
};

const faultOf = <Kind extends FaultKind, Shape extends z.core.$ZodLooseShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), ...common, ...shape });

const unavailableStatuses = [401, 403, 404, 429, 500, 502, 503, 504] as const;
const errorStatuses = [500, 502, 503, 504] as const;

const anyFault = z.discriminatedUnion(
  "kind",
  [
    /** Waits before it does anything. */
    faultOf("slow", { ms: durationMs(1) }),
    /** Does what was asked, then breaks the connection instead of answering. */
    faultOf("dropAnswer", {}),
    /** A gateway in front of the system answers; the request never reaches it. */
    faultOf("unavailable", {
      status: z.literal(unavailableStatuses, `must be one of ${unavailableStatuses.join(", ")}`).default(503),
      /** Counted from when the fault was told. Left out: until `times` is used up or the fault is removed. */
      forMs: durationMs(1).optional(),
      retryAfterSeconds: z.int("must be whole seconds from 0 to 600").min(0).max(600).optional(),
    }),
    /** Takes the request on and commits it that much later, whether or not the client is still there. */
    faultOf("lateCommit", { ms: durationMs(1) }),
    /** Commits, then answers an error; `replayed`: the error becomes the key's stored answer. */
    faultOf("errorAfterCommit", {
      status: z.literal(errorStatuses, `must be one of ${errorStatuses.join(", ")}`).default(500),
      replayed: z.boolean("must be true or false").default(false),
    }),
    /**
     * Somebody entered the posting by hand before the first request came: 409 "exists". With the content of the
     * request, or, given `amountMinor`, with another amount.
     */
    faultOf("exists", { amountMinor: z.int("must be a whole number of minor units").optional() }),
    /** A supplier's document number is taken once only: 409 "exists" for the next posting with it. */
    faultOf("uniqueNumber", {}),
    /** Idempotency records are forgotten when this old; 0: at once. */
    faultOf("keysExpire", { ms: durationMs(0) }),
    /** Idempotency keys are ignored. */
    faultOf("noKeys", {}),
    /** The system can't be asked by reference: 404 on the lookup. */
    faultOf("noFind", {}),
    /** A commit shows in lookups only when this old. */
    faultOf("lookupLag", { ms: durationMs(1) }),
    /** Refuses for good with a published code, until the fault is removed ("repaired"). */
    faultOf("refuse", { code: z.string("must be one of the system's published codes") }),
  ],
  {
    error: ({ code }) =>
      code === "invalid_union"
        ? `must be one of ${faultKinds.join(", ")}`
        : `must be an object whose kind is one of ${faultKinds.join(", ")}`,
  },
);

/** What {@link faultSchema} gives: validated, with defaults filled in. */
export type Fault = z.output<typeof anyFault>;
/** What a teller writes: defaults may be left out. */
export type FaultInput = z.input<typeof anyFault>;

export const faultSchema = anyFault.superRefine((fault, context) => {
  const possible: readonly Operation[] = operationsOf[fault.system].filter((operation) =>
    (operationsOfKind[fault.kind] as readonly Operation[]).includes(operation),
  );
  if (possible.length === 0) {
    const message = `${fault.system} can't have the fault ${fault.kind}, which is for ${operationsOfKind[fault.kind].join(", ")}`;
    context.addIssue({ code: "custom", path: ["system"], message });
  } else if (fault.operation !== undefined && !possible.includes(fault.operation)) {
    const message = `for ${fault.kind} at ${fault.system} must be ${possible.join(" or ")}`;
    context.addIssue({ code: "custom", path: ["operation"], message });
  }
  if (fault.kind === "refuse") {
    const codes: readonly string[] = refusalCodes[fault.system];
    if (!codes.includes(fault.code)) {
      const message = `must be one of the published codes of ${fault.system}: ${codes.join(", ") || "it has none"}`;
      context.addIssue({ code: "custom", path: ["code"], message });
    }
  }
});

/** Is the token a delimited part of the key? A delimiter is whatever is neither letter nor digit. */
export function carriesToken(key: string, token: string): boolean {
  return key.split(/[^A-Za-z0-9]+/).includes(token);
}
