/**
 * What a SQL text does, by PostgreSQL's own grammar: never by looking for words, which finds `update` in
 * `select … for update` and misses the `insert` in `with x as (insert …) select …`.
 */
import { createHash } from "node:crypto";
import { fingerprintSync, loadModule, parseSync } from "libpg-query";
import { builtInFunctions, type FunctionKnowledge } from "./functions.js";

export type StatementKind =
  | "read"
  | "write"
  /** Makes, changes or drops tables, functions, rights. */
  | "definition"
  | "begin"
  | "commit"
  | "rollback"
  /** `execute name`: what it does is known by the connection that prepared the name. */
  | "execute-prepared";

export interface Statement {
  readonly kind: StatementKind;
  /** `insert`, `update`, `select`, `commit`, … */
  readonly verb: string;
  /** What is written to, or empty. */
  readonly table: string;
  /** Of the normalised statement: constants, parameter numbers and lengths of lists don't change it. */
  readonly fingerprint: string;
  /** It changes data or definitions once it is committed. */
  readonly writes: boolean;
  /** It takes row locks, as a claim does before its update. */
  readonly locks: boolean;
  /** It moves data by the copy protocol. */
  readonly copies: "in" | "out" | null;
  /** `prepare name as …` */
  readonly prepares?: { readonly name: string; readonly statement: Statement };
  /** `execute name` */
  readonly executes?: string;
}

type Node = { readonly [key: string]: unknown };

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Statements that change rows, by the grammar's name of their node. */
const writingNodes: Readonly<Record<string, string>> = {
  InsertStmt: "insert",
  UpdateStmt: "update",
  DeleteStmt: "delete",
  MergeStmt: "merge",
  TruncateStmt: "truncate",
  DoStmt: "do",
  CallStmt: "call",
  RefreshMatViewStmt: "refresh",
};

/** Statements that leave data and definitions alone. NOTIFY is here: it only wakes, and its loss must harm nobody. */
const quietNodes: Readonly<Record<string, string>> = {
  SelectStmt: "select",
  VariableSetStmt: "set",
  VariableShowStmt: "show",
  ListenStmt: "listen",
  UnlistenStmt: "unlisten",
  NotifyStmt: "notify",
  DeclareCursorStmt: "declare",
  FetchStmt: "fetch",
  ClosePortalStmt: "close",
  LockStmt: "lock",
  ExplainStmt: "explain",
  PrepareStmt: "prepare",
  DeallocateStmt: "deallocate",
  DiscardStmt: "discard",
  CheckPointStmt: "checkpoint",
  VacuumStmt: "vacuum",
  ConstraintsSetStmt: "set constraints",
  LoadStmt: "load",
  CopyStmt: "copy",
};

const transactionKinds: Readonly<Record<string, readonly [StatementKind, string]>> = {
  TRANS_STMT_BEGIN: ["begin", "begin"],
  TRANS_STMT_START: ["begin", "begin"],
  TRANS_STMT_COMMIT: ["commit", "commit"],
  TRANS_STMT_ROLLBACK: ["rollback", "rollback"],
  TRANS_STMT_PREPARE: ["commit", "prepare transaction"],
  TRANS_STMT_COMMIT_PREPARED: ["write", "commit prepared"],
  TRANS_STMT_ROLLBACK_PREPARED: ["write", "rollback prepared"],
};

/** Distinct texts that are remembered; parsing one costs about 0.3 ms, so the cache keeps the tap out of the way. */
const cacheEntriesMax = 5_000;

/** Reads SQL texts, each distinct text once. Make it with `createStatementReader`, which loads the grammar. */
export class StatementReader {
  private readonly cache = new Map<string, readonly Statement[]>();

  constructor(private readonly functions: FunctionKnowledge) {}

  /** The statements of a text, in order; none for an empty text. */
  read(sql: string): readonly Statement[] {
    const known = this.cache.get(sql);
    if (known !== undefined) return known;
    const statements = this.parse(sql);
    if (this.cache.size >= cacheEntriesMax) this.cache.delete(this.cache.keys().next().value!);
    this.cache.set(sql, statements);
    return statements;
  }

  private parse(sql: string): readonly Statement[] {
    let parsed: readonly Node[];
    try {
      parsed = (parseSync(sql).stmts ?? []) as unknown as readonly Node[];
    } catch (error) {
      if (isEmptyText(error)) return [];
      return [unparsed(sql)];
    }
    const bytes = Buffer.from(sql, "utf8");
    return parsed.map((one) => {
      const start = Number(one["stmt_location"] ?? 0);
      const length = Number(one["stmt_len"] ?? 0);
      const text = bytes.toString("utf8", start, length === 0 ? bytes.length : start + length);
      return this.describe(one["stmt"] as Node, fingerprintSync(text));
    });
  }

  private describe(node: Node, fingerprint: string): Statement {
    const [type, content] = onlyEntry(node);
    const base = { fingerprint, locks: false, copies: null, table: "" } as const;
    if (type === "TransactionStmt") {
      const [kind, verb] = transactionKinds[String(content["kind"])] ?? ["read", "savepoint"];
      return { ...base, kind, verb, writes: kind === "write" };
    }
    if (type === "ExecuteStmt") {
      return {
        ...base,
        kind: "execute-prepared",
        verb: "execute",
        writes: false,
        executes: String(content["name"]),
      };
    }
    if (type === "PrepareStmt") {
      const statement = this.describe(content["query"] as Node, fingerprint);
      return {
        ...base,
        kind: "read",
        verb: "prepare",
        writes: false,
        prepares: { name: String(content["name"]), statement },
      };
    }
    // Explain runs its statement only when it is asked to analyse.
    if (type === "ExplainStmt" && !optionNames(content).includes("analyze")) {
      return { ...base, kind: "read", verb: "explain", writes: false };
    }
    const found = this.inspect(node);
    const copies = type === "CopyStmt" ? (content["is_from"] === true ? "in" : "out") : null;
    const writes = found.writing[0];
    if (writes !== undefined) {
      return {
        ...base,
        kind: "write",
        verb: writes.verb,
        table: writes.table,
        writes: true,
        locks: found.locks,
        copies,
      };
    }
    const quiet = quietNodes[type];
    if (quiet !== undefined)
      return { ...base, kind: "read", verb: quiet, writes: false, locks: found.locks, copies };
    const verb = type
      .replace(/Stmt$/, "")
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
      .toLowerCase();
    return { ...base, kind: "definition", verb, table: tableOf(content), writes: true };
  }

  /** Looks through the whole tree, so that writes inside WITH and calls anywhere are found. */
  private inspect(root: Node): {
    readonly writing: { verb: string; table: string }[];
    readonly locks: boolean;
  } {
    const writing: { verb: string; table: string }[] = [];
    let locks = false;
    const visit = (value: unknown): void => {
      if (Array.isArray(value)) return value.forEach(visit);
      if (!isNode(value)) return;
      for (const [key, content] of Object.entries(value)) {
        if (isNode(content)) {
          const verb = this.writingVerb(key, content);
          if (verb !== undefined) writing.push({ verb, table: tableOf(content) });
        }
        if (key === "lockingClause") locks = true;
        visit(content);
      }
    };
    visit(root);
    return { writing, locks };
  }

  private writingVerb(type: string, content: Node): string | undefined {
    if (type in writingNodes) return writingNodes[type];
    if (type === "CopyStmt" && content["is_from"] === true) return "copy";
    if (type === "intoClause") return "select into";
    if (type === "FuncCall") {
      const name = nameOf(content["funcname"]);
      if (this.functions.writes(name)) return `call ${name}`;
    }
    return undefined;
  }
}

/**
 * @param functions what is known of functions that a SELECT may call. Default: the server's own only.
 */
export async function createStatementReader(
  functions: FunctionKnowledge = builtInFunctions,
): Promise<StatementReader> {
  await loadModule();
  return new StatementReader(functions);
}

/** A text that this grammar can't read may still be one that the server can; better a window too many. */
function unparsed(sql: string): Statement {
  const fingerprint = createHash("sha256").update(sql).digest("hex").slice(0, 16);
  return {
    kind: "write",
    verb: "unparsed",
    table: "",
    fingerprint,
    writes: true,
    locks: false,
    copies: null,
  };
}

function isEmptyText(error: unknown): boolean {
  return error instanceof Error && error.message === "Query cannot be empty";
}

function onlyEntry(node: Node): readonly [string, Node] {
  const [entry] = Object.entries(node);
  if (entry === undefined || !isNode(entry[1])) return ["", {}];
  return [entry[0], entry[1]];
}

function optionNames(content: Node): readonly string[] {
  const options = Array.isArray(content["options"]) ? content["options"] : [];
  return options.map((one) => String((one as { DefElem?: { defname?: string } }).DefElem?.defname));
}

/** A name in parts, as the grammar gives it, in one text. */
function nameOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .map((part) => (part as { String?: { sval?: string } }).String?.sval ?? "")
    .join(".")
    .toLowerCase();
}

/** The relation that a statement is about, with its schema when the statement names one. */
function tableOf(content: Node): string {
  const relation = (content["relation"] ?? content["rel"]) as Node | undefined;
  const several = content["relations"];
  const first = Array.isArray(several)
    ? ((several[0] as Node | undefined)?.["RangeVar"] as Node | undefined)
    : relation;
  if (first === undefined || typeof first["relname"] !== "string") return "";
  return typeof first["schemaname"] === "string"
    ? `${first["schemaname"]}.${first["relname"]}`
    : first["relname"];
}
