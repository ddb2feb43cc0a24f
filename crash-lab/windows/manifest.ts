/**
 * The committed list of a scenario's windows. Its hash tells two checkouts apart, and a window that appears or goes
 * is a change of the code under test that somebody has to look at.
 */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { z } from "zod";
import { parseJson } from "../parse-json.js";
import { parseWindowName } from "./window-name.js";

export interface ManifestEntry {
  readonly window: string;
  /** Seen in both golden runs. Others are tried too, but can't be missed. */
  readonly stable: boolean;
  /** The victim has no event here; it is killed at another process's event while it waits. */
  readonly idle?: boolean;
}

/** Sorted byte-wise by window, each window once. */
export type Manifest = readonly ManifestEntry[];

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Makes a manifest of the windows seen in two golden runs of the same stories. */
export function manifestOf(first: ReadonlySet<string>, second: ReadonlySet<string>): Manifest {
  return [...new Set([...first, ...second])]
    .sort(byBytes)
    .map((window) => ({ window, stable: first.has(window) && second.has(window) }));
}

/** SHA-256, lower-case hex, over the RFC 8785 form of the stable names. */
export function manifestHash(manifest: Manifest): string {
  const names = manifest.filter(({ stable }) => stable).map(({ window }) => window);
  return createHash("sha256")
    .update(canonicalize([...names].sort(byBytes))!)
    .digest("hex");
}

/** The entries of some stories only. */
export function ofStories(manifest: Manifest, stories: readonly string[]): Manifest {
  return manifest.filter(({ window }) => stories.includes(parseWindowName(window).story));
}

/** A manifest in which the windows of some stories are replaced, and those of all others stay. */
export function withStories(committed: Manifest, seen: Manifest): Manifest {
  const stories = new Set(seen.map(({ window }) => parseWindowName(window).story));
  const others = committed.filter(({ window }) => !stories.has(parseWindowName(window).story));
  return [...others, ...seen].sort((a, b) => byBytes(a.window, b.window));
}

export interface Drift {
  /** Stable now and not in the committed manifest: an event that appeared. */
  readonly appeared: readonly string[];
  /** Stable in the committed manifest and in neither golden run: an event that went. */
  readonly gone: readonly string[];
  /** Seen in one of the golden runs only; no drift, but worth a look. */
  readonly warnings: readonly string[];
}

/** Compares what was seen with what is committed. */
export function driftBetween(committed: Manifest, seen: Manifest): Drift {
  const known = new Map(committed.map((entry) => [entry.window, entry]));
  const present = new Set(seen.map(({ window }) => window));
  return {
    appeared: seen.filter(({ window, stable }) => stable && !known.has(window)).map(({ window }) => window),
    gone: committed
      .filter(({ window, stable }) => stable && !present.has(window))
      .map(({ window }) => window),
    warnings: seen.filter(({ stable }) => !stable).map(({ window }) => window),
  };
}

const manifestSchema = z.array(
  z.strictObject({ window: z.string(), stable: z.boolean(), idle: z.boolean().optional() }),
);

/**
 * Reads a committed manifest.
 *
 * @throws Error naming the file and the first entry that is wrong: bad name, twice, or out of order.
 */
export function parseManifest(text: string, file: string): Manifest {
  const entries = parseJson(manifestSchema, text, file);
  let previous: string | undefined;
  for (const { window } of entries) {
    parseWindowName(window);
    if (previous !== undefined && byBytes(previous, window) >= 0)
      throw new Error(`${file}: "${window}" is out of order or stands twice; make the file with --accept`);
    previous = window;
  }
  return entries.map(({ window, stable, idle }) => ({ window, stable, ...(idle ? { idle } : {}) }));
}

/** One entry a line, so that a change of one window is one line in a diff. */
export function formatManifest(manifest: Manifest): string {
  if (manifest.length === 0) return "[]\n";
  return `[\n${manifest.map((entry) => `  ${JSON.stringify(entry)}`).join(",\n")}\n]\n`;
}
