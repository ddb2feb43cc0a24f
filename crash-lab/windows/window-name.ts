import type { Side } from "../taps/event.js";

/** The two sides of a boundary event at which a kill can fall; see `taps/event.ts` for what they mean. */
export const sides = ["before", "after"] as const satisfies readonly Side[];

/**
 * A place between two neighbouring boundary events of one run. It is named by what happens there and never by wall
 * order, so that the same place has the same name in every run.
 */
export interface Window {
  readonly story: string;
  /** The process whose connection carries the event; it is the victim. */
  readonly process: string;
  readonly tap: string;
  /** What the message is, with the run's token replaced: `POST /postings`, `RespondActivityTaskCompleted:…`. */
  readonly label: string;
  /** 1 for the first event with this label in this run and process. */
  readonly ordinal: number;
  readonly side: Side;
}

const partNames = ["story", "process", "tap", "label", "ordinal", "side"] as const;

/** `<story>/<process>/<tap>/<label>/<ordinal>/<side>`, each part URI-encoded. */
export function windowName(window: Window): string {
  return partNames.map((part) => encodeURIComponent(String(window[part]))).join("/");
}

/**
 * Reads a window's name.
 *
 * @throws Error naming the part that is wrong, its value and what is allowed.
 */
export function parseWindowName(name: string): Window {
  const parts = name.split("/");
  if (parts.length !== partNames.length)
    throw new Error(
      `window name "${name}" has ${parts.length} parts; it takes ${partNames.length}: ${partNames.join("/")}, each URI-encoded`,
    );
  const [story, process, tap, label, ordinal, side] = parts.map((part, at) =>
    decode(name, partNames[at]!, part),
  ) as [string, string, string, string, string, string];
  if (!/^[1-9]\d*$/.test(ordinal))
    throw new Error(`window name "${name}": ordinal "${ordinal}" must be a whole number from 1`);
  if (!sides.includes(side as Side))
    throw new Error(`window name "${name}": side "${side}" must be one of ${sides.join(", ")}`);
  return { story, process, tap, label, ordinal: Number(ordinal), side: side as Side };
}

function decode(name: string, part: string, value: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(value);
  } catch {
    throw new Error(`window name "${name}": ${part} "${value}" is not URI-encoded`);
  }
  if (decoded === "") throw new Error(`window name "${name}": ${part} is empty`);
  return decoded;
}

/** A boundary event as far as its place is concerned. */
export interface PlacedEvent {
  readonly process: string;
  readonly tap: string;
  readonly label: string;
}

/**
 * Numbers a run's events as they arrive. Ordinals count within (process, tap, label), so an event of one process
 * never renames a window of another.
 */
export class WindowCounter {
  readonly #counts = new Map<string, number>();

  constructor(private readonly story: string) {}

  /** The window at this event and side; call it once for each event, and take the other side from `otherSide`. */
  next(event: PlacedEvent, side: Side): Window {
    const key = JSON.stringify([event.process, event.tap, event.label]);
    const ordinal = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, ordinal);
    return { story: this.story, process: event.process, tap: event.tap, label: event.label, ordinal, side };
  }
}

/** The window on the other side of the same event. */
export function otherSide(window: Window): Window {
  return { ...window, side: window.side === "before" ? "after" : "before" };
}
