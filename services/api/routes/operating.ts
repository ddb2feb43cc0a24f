/** For whoever runs the API: is it healthy, and what can it do? */
import { sql } from "kysely";
import { z } from "zod";
import type { Api, ApiDependencies } from "../app.js";
import { problemResponses } from "../problems.js";

export function registerOperating(app: Pick<Api, "route" | "swagger">, { ledger }: ApiDependencies): void {
  app.route({
    method: "GET",
    url: "/healthz",
    schema: {
      summary: "Is the API of use? It is when its ledger is.",
      response: { 200: z.object({ status: z.literal("ok") }), ...problemResponses("LedgerUnavailable") },
    },
    handler: async () => {
      await sql`select 1`.execute(ledger);
      return { status: "ok" as const };
    },
  });
  app.route({
    method: "GET",
    url: "/openapi.json",
    schema: { hide: true },
    handler: async () => app.swagger(),
  });
}
