/** Signals that ask this process to end, turned into closing what is open. */
import { constants } from "node:os";
import { messageOf } from "./errors.js";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Close = () => Promise<void>;
type Notice = (line: string) => void;

const open = new Map<Close, Notice>();
let ending = false;

/**
 * Has `close` called when this process is asked to end; when all such calls have settled, the process exits with
 * 128 + the signal's number, as a shell expects. A second signal exits at once: the guardian does the rest.
 *
 * @returns what takes `close` off the list again.
 */
export function closeOnSignals(close: Close, notice: Notice): () => Promise<void> {
  if (open.size === 0) for (const signal of endingSignals) process.on(signal, onSignal);
  open.set(close, notice);
  return async () => {
    open.delete(close);
    // While ending, the handlers stay: without them a second Ctrl-C would cut the closing short.
    if (open.size === 0 && !ending) for (const signal of endingSignals) process.off(signal, onSignal);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  const exitCode = 128 + constants.signals[signal];
  if (ending) process.exit(exitCode);
  ending = true;
  const closing = [...open].map(([close, notice]) =>
    close().catch((error: unknown) => notice(messageOf(error))),
  );
  void Promise.all(closing).then(() => process.exit(exitCode));
}
