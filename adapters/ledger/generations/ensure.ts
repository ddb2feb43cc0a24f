import { sql } from "kysely";

import type { Ledger } from "../database.js";
import type { GenerationTable } from "../operations/tables.js";
import { withRetry } from "../retryable.js";

export interface Generation {
  readonly ownerId: string;
  readonly generation: number;
  readonly state: GenerationTable["state"];
}

/**
 * The owner's generation; a new owner gets its first one, `provisioning`.
 *
 * ```sql
 * insert into generations … values ($1, 1, 'provisioning', ledger_now()) on conflict (owner_id) do nothing;
 * select … from generations where owner_id = $1
 * ```
 */
export async function ensureGeneration(ledger: Ledger, ownerId: string): Promise<Generation> {
  return withRetry(
    async () => {
      await sql`insert into generations (owner_id, generation, state, changed_at)
                values (${ownerId}, 1, 'provisioning', ledger_now())
                on conflict (owner_id) do nothing`.execute(ledger);
      const row = await ledger
        .selectFrom("generations")
        .select(["generation", "state"])
        .where("owner_id", "=", ownerId)
        .executeTakeFirstOrThrow();
      return { ownerId, ...row };
    },
    { readBack: "repeatable" },
  );
}
