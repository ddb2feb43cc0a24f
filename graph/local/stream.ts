import type { StreamChunk } from "./types.js";

type Work = (push: (chunk: StreamChunk) => void, signal: AbortSignal) => Promise<unknown>;

/**
 * The chunks of a run as it goes. The run begins with the first read; a reader who stops early stops the run, and a
 * run that fails makes the reader's next read fail.
 */
export async function* chunksOf(
  signal: AbortSignal | undefined,
  work: Work,
): AsyncGenerator<StreamChunk, void> {
  const stopped = new AbortController();
  const chunks: StreamChunk[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  const signals = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal]);
  const run = work((chunk) => {
    chunks.push(chunk);
    wake?.();
  }, signals).finally(() => {
    ended = true;
    wake?.();
  });
  // Whoever reads on sees the failure below; a reader who stopped has no use for it.
  run.catch(() => undefined);
  try {
    for (;;) {
      yield* chunks.splice(0);
      if (chunks.length > 0) continue;
      if (ended) break;
      await new Promise<void>((resolve) => (wake = resolve));
    }
    await run;
  } finally {
    if (!ended) stopped.abort(new Error("the reader of the stream has stopped"));
  }
}
