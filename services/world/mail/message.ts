/** Mail as the mail system takes it. */
import { createHash } from "node:crypto";
import type pg from "pg";
import { z } from "zod";
import { jsonAnswer } from "../answer.js";
import type { KeyedEffect } from "../keyed-effect.js";

export const messageRequestSchema = z.strictObject({
  /** The client's own reference. */
  reference: z.string().min(1, "must have 1 to 200 characters").max(200, "must have 1 to 200 characters"),
  to: z.string().regex(/^[^\s@]+@[^\s@]+$/, "must be a mail address"),
  subject: z.string().max(200, "must have at most 200 characters"),
  text: z.string().max(100_000, "must have at most 100000 characters"),
});
export type MessageRequest = z.infer<typeof messageRequestSchema>;

export const sendEffect: KeyedEffect<MessageRequest> = {
  system: "mail",
  operation: "send",
  keyOf: ({ reference }) => reference,
  commit: async (client, message, { request }) => {
    const number = await insertMessage(client, message);
    await request.committed(client, "send", message);
    const { reference, to, subject, text } = message;
    const textSha256 = createHash("sha256").update(text, "utf8").digest("hex");
    return jsonAnswer(201, { messageReference: `MSG-${number}`, reference, to, subject, textSha256 });
  },
};

async function insertMessage(client: pg.PoolClient, message: MessageRequest): Promise<string> {
  const { rows } = await client.query<{ message_number: string }>(
    "insert into messages (reference, recipient, subject, body) values ($1, $2, $3, $4) returning message_number",
    [message.reference, message.to, message.subject, message.text],
  );
  return rows[0]!.message_number;
}
