/** The mail system: it takes a message and can't be asked afterwards whether it did. */
import { idempotencyHeadersSchema } from "../http/provider.js";
import type { WorldServer } from "../http/server.js";
import { createKeyedEffect, type EffectDependencies } from "../keyed-effect.js";
import { messageRequestSchema, sendEffect } from "./message.js";

export function registerMail(app: WorldServer, dependencies: EffectDependencies): void {
  const send = createKeyedEffect(sendEffect, dependencies);
  app.post(
    "/messages",
    { schema: { body: messageRequestSchema, headers: idempotencyHeadersSchema } },
    (request, reply) => send(request.body, request.headers["idempotency-key"], reply),
  );
}
