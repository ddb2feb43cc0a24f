/** The names that an error of the engine can have; the first eight are LangGraph's, with the same meaning. */
export type GraphErrorName =
  | "GraphRecursionError"
  | "InvalidUpdateError"
  | "EmptyInputError"
  | "UnreachableNodeError"
  | "GraphValueError"
  | "NodeTimeoutError"
  | "UnknownInterruptError"
  | "GraphDrained"
  | "GraphDefinitionError"
  | "GraphCodeError"
  | "GraphRegistryError"
  | "DeadlineExceededError"
  | "ThreadBusyError"
  | "TypeError";

/** An error of the engine. `code` narrows the name down where one name has several causes. */
export class GraphError extends Error {
  readonly code: string | undefined;

  constructor(name: GraphErrorName, message: string, code?: string) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** An error as plain data: what a checkpoint records of a failed task. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** HTTP status that the error carried, read by the default refusal list. */
  readonly status?: number;
  /** Present when several tasks of a step failed. */
  readonly errors?: readonly ErrorData[];
}

function statusOf(error: Record<string, unknown>): number | undefined {
  const response = error["response"] as Record<string, unknown> | null | undefined;
  const status = Number(response?.["status"] ?? error["status"]);
  return Number.isInteger(status) ? status : undefined;
}

/** Turns anything thrown into data; what isn't an error becomes one whose message is the thrown value. */
export function errorData(thrown: unknown): ErrorData {
  if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: String(thrown) };
  const error = thrown as Record<string, unknown>;
  const status = statusOf(error);
  const nested = error["error"] as Record<string, unknown> | null | undefined;
  const code = typeof error["code"] === "string" ? error["code"] : nested?.["code"];
  return {
    name: typeof error["name"] === "string" ? error["name"] : "Error",
    message: typeof error["message"] === "string" ? error["message"] : "",
    ...(typeof code === "string" && { code }),
    ...(status !== undefined && { status }),
  };
}
