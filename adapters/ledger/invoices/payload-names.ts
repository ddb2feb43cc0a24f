import { sql } from "kysely";

import type { PayloadNames } from "../../../activities/invoice-approval/ports.js";
import type { Ledger } from "../database.js";

/** Names for stored payloads, bound once. Both calls may be repeated at will. */
export function createPayloadNames(ledger: Ledger): PayloadNames {
  const lookUp = (name: string) => lookUpPayload(ledger, name);
  return { lookUp, bind: (name, digest) => bindPayload(ledger, name, digest) };
}

/**
 * ```sql
 * select digest from payload_names where name = $1
 * ```
 */
export async function lookUpPayload(ledger: Ledger, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ digest: string }>`
    select digest from payload_names where name = ${name}`.execute(ledger);
  return rows[0]?.digest;
}

/**
 * Two statements on purpose: one that inserted and read together would not see the row of a rival that committed
 * in between. Rows are never removed, so after the insert there is one.
 *
 * ```sql
 * insert into payload_names (name, digest) values ($1, $2) on conflict (name) do nothing;
 * select digest from payload_names where name = $1;
 * ```
 *
 * @returns the digest that was bound first.
 */
export async function bindPayload(ledger: Ledger, name: string, digest: string): Promise<string> {
  await sql`
    insert into payload_names (name, digest) values (${name}, ${digest})
    on conflict (name) do nothing`.execute(ledger);
  const bound = await lookUpPayload(ledger, name);
  if (bound === undefined) throw new Error(`The payload name ${name} was bound and is gone.`);
  return bound;
}
