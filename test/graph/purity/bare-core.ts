import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { rolldown } from "rolldown";
import type { Program } from "../../../graph/core/compile.js";
import { GraphError, type GraphErrorName } from "../../../graph/core/errors.js";

/** The modules whose functions run in the bare context: all that make a checkpoint from a checkpoint, and the plan. */
export const pureModules = ["plan", "apply", "verbs", "resume", "edit", "deliver"] as const;

const coreFolder = fileURLToPath(new URL("../../../graph/core/", import.meta.url));

/**
 * What runs inside the context. Arguments come as JSON text, are frozen through and through, and each call is made twice
 * on arguments of its own; results go back as JSON text. So a call that changes its input throws, one that depends on
 * anything else gives other bytes, and what isn't plain data doesn't survive.
 */
const inside = `
"use strict";
delete globalThis.console;
for (const name of ["Date", "SharedArrayBuffer", "Atomics", "WebAssembly"]) delete globalThis[name];
Math.random = () => { throw new Error("the core drew a random number"); };
const programs = new Map();
function freeze(value) {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
function programOf(text) {
  if (!programs.has(text)) {
    const { manifest, inlineDurable } = JSON.parse(text);
    programs.set(text, core.compile(freeze(manifest), { inlineDurable }));
  }
  return programs.get(text);
}
function once(name, program, text) {
  const args = freeze(JSON.parse(text).map((given) => given.value));
  try {
    return JSON.stringify({ result: core[name](programOf(program), ...args) });
  } catch (error) {
    const { name, message, code } = error;
    return JSON.stringify({ error: { name, message, code } });
  }
}
globalThis.call = (name, program, text) => {
  const first = once(name, program, text);
  const second = once(name, program, text);
  if (first !== second) return JSON.stringify({ error: { name: "ImpureError", message: name + " gave two results:\\n" + first + "\\n" + second } });
  return first;
};
globalThis.globals = () => Object.getOwnPropertyNames(globalThis).join();
`;

export interface BareCore {
  /** Calls a function of the core with a program and plain arguments. */
  call(name: string, program: Program, args: readonly unknown[]): unknown;
  /** Names that the context has. */
  readonly globals: readonly string[];
  /** Every call so far: name and bytes of its result. */
  readonly calls: { readonly name: string; readonly text: string }[];
}

/** Loads the core, as one script, into a context that has nothing but the language. */
export async function loadBareCore(): Promise<BareCore> {
  const context = vm.createContext(Object.create(null) as object);
  vm.runInContext(await bundle(), context);
  vm.runInContext(inside, context);
  const { call, globals } = vm.runInContext("({ call, globals })", context) as {
    call(name: string, program: string, args: string): string;
    globals(): string;
  };
  const calls: BareCore["calls"] = [];
  return {
    calls,
    globals: globals().split(","),
    call(name, program, args) {
      const text = call(
        name,
        JSON.stringify({ manifest: program.root.manifest, inlineDurable: program.inlineDurable }),
        JSON.stringify(args.map((value) => ({ value }))),
      );
      calls.push({ name, text });
      const { result, error } = JSON.parse(text) as { result?: unknown; error?: ThrownInside };
      if (error === undefined) return result;
      throw new GraphError(error.name as GraphErrorName, error.message, error.code);
    },
  };
}

interface ThrownInside {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

async function bundle(): Promise<string> {
  const entry = "core-entry";
  const lines = [...pureModules, "compile"].map((name) => `export * from "${coreFolder}${name}.ts";`);
  const build = await rolldown({
    input: entry,
    platform: "neutral",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    plugins: [
      {
        name: "core-entry",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? lines.join("\n") : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format: "iife", name: "core" });
  await build.close();
  return output[0].code;
}
