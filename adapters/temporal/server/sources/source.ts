import type { ServerDescription, ServerKind } from "../kinds.js";
import type { Environment } from "../settings.js";

/** What every source is given. */
export interface SourceContext {
  readonly kind: ServerKind;
  readonly server: ServerDescription;
  readonly environment: Environment;
  readonly cacheFolder: string;
  readonly requirementsFile: string;
  /** Gets one line when something is downloaded, and one when something a person named can't be used. */
  readonly notice: (line: string) => void;
}

/** Something looked at that gave nothing. */
export interface Miss {
  readonly what: string;
  readonly reason: string;
}

export type SourceResult =
  | { readonly found: true; readonly path: string; readonly version: string }
  | { readonly found: false; readonly misses: readonly Miss[] };

export type Source = (context: SourceContext) => Promise<SourceResult>;
