import { GraphError } from "./errors.js";

/** Milliseconds, or a number with a unit: `"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * A duration in whole milliseconds.
 *
 * @param place what the duration belongs to, for the message
 * @throws GraphError `GraphDefinitionError` when it isn't a positive duration
 */
export function toMs(duration: Duration, place: string): number {
  const match = typeof duration === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) : null;
  const milliseconds =
    typeof duration === "number"
      ? duration
      : match && Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
  if (milliseconds === null || !Number.isFinite(milliseconds) || milliseconds <= 0)
    throw new GraphError(
      "GraphDefinitionError",
      `${place} is ${JSON.stringify(duration)}; allowed is a positive number of milliseconds or a text such as "250ms", "30s", "5m", "2h", "7d"`,
    );
  return Math.round(milliseconds);
}
