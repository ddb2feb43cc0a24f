/** What the three outside systems have in common as HTTP servers. */
import type { Logger } from "pino";
import { z } from "zod";
import type { System } from "../faults/fault.js";
import type { Work } from "../work.js";
import { sameSecret } from "./bearer.js";
import { problemType, ProblemError } from "./problem.js";
import { createServer, type WorldServer } from "./server.js";

/** Far above any posting or message; a larger body is a mistake of the client's. */
const bodyBytesMax = 256 * 1024;

export function createProviderServer(
  system: System,
  { apiKey, logger, work }: { apiKey: string; logger: Logger; work: Work },
): WorldServer {
  return createServer({
    system,
    logger,
    work,
    bodyBytesMax,
    authorise: (token) => {
      if (token === undefined || !sameSecret(token, apiKey)) {
        throw new ProblemError({
          type: problemType(system, "not-authenticated"),
          title: "Not authenticated",
          status: 401,
          detail: "The request needs this system's API key: Authorization: Bearer <key>.",
        });
      }
    },
  });
}

/** Optional, as with most systems: without it a repeated request is another one. */
export const idempotencyHeadersSchema = z.object({
  "idempotency-key": z
    .string()
    .min(1, "must have 1 to 255 characters")
    .max(255, "must have 1 to 255 characters")
    .optional(),
});
