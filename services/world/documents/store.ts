/** The files that the document system holds, and how they get there. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type pg from "pg";
import { z } from "zod";
import type { Journal } from "../journal/append.js";

export const documentIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/,
    "must be 1 to 200 letters, digits, dots, colons, hyphens and underscores, beginning with a letter or digit",
  );

export interface Document {
  readonly documentId: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** Puts a file in place or replaces it. It is journaled as the other company's own doing. */
export async function putDocument(
  journal: Journal,
  { documentId, mediaType, bytes }: Document,
): Promise<void> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const content = { documentId, mediaType, sha256 };
  const asked = {
    system: "documents",
    operation: "put",
    key: documentId,
    idempotencyKey: null,
    content,
  } as const;
  const request = await journal.received({ ...asked, faults: {} });
  await journal.transaction(async (client) => {
    await client.query(
      `insert into documents (document_id, media_type, bytes) values ($1, $2, $3)
       on conflict (document_id) do update set media_type = excluded.media_type, bytes = excluded.bytes`,
      [documentId, mediaType, bytes],
    );
    await request.committed(client, "put", content);
  });
}

export async function readDocument(pool: pg.Pool, documentId: string): Promise<Document | undefined> {
  const { rows } = await pool.query<{ media_type: string; bytes: Buffer }>(
    "select media_type, bytes from documents where document_id = $1",
    [documentId],
  );
  return rows[0] && { documentId, mediaType: rows[0].media_type, bytes: rows[0].bytes };
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".xml": "application/xml",
  ".pdf": "application/pdf",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Loads every file of a folder; the file's name is the document's id.
 *
 * @returns how many. @throws when a name can't be an id, since a file left out would be missed much later.
 */
export async function loadFolder(journal: Journal, folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  for (const name of names.toSorted()) {
    const id = documentIdSchema.safeParse(name);
    if (!id.success) throw new Error(`the file name ${JSON.stringify(name)} ${id.error.issues[0]!.message}`);
    const mediaType = mediaTypes[extname(name).toLowerCase()] ?? "application/octet-stream";
    await putDocument(journal, { documentId: name, mediaType, bytes: await readFile(join(folder, name)) });
  }
  return names.length;
}
