/** The command as a process, killed half-way through a folder. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openHttpTap } from "../../../crash-lab/taps/http/http-tap.js";
import { forward, type BoundaryEvent, type Decision } from "../../../crash-lab/taps/event.js";
import type { ManagedProcess } from "../../../platform/index.js";
import { keyOf, people } from "../../services/api/api-rig.js";
import { processRig, spawnApi } from "../../services/api/process-rig.js";
import { folderWith, numbered } from "./folder.js";

const rig = processRig();

/** What the ledger holds: each request with the invoices in it, and how many starts were written for it. */
async function stored(): Promise<readonly { key: string; invoices: number; starts: number }[]> {
  const { rows } = await sql<{ key: string; invoices: number; starts: number }>`
    select idempotency_key as key, jsonb_array_length(body -> 'invoices') as invoices,
           (select count(*) from outbox where ordering_key = 'workflow:' || workflow_id) as starts
      from requests order by admitted_at`.execute(rig.ledger);
  return rows;
}

test("killed with a batch's answer on its way, and repeated: each batch once, each invoice once", async () => {
  const folder = await folderWith(numbered("killed", 20));
  const api = await spawnApi(rig.run, { name: "api", ledgerUrl: rig.ledgerUrl, callers: people });
  let victim: ManagedProcess | undefined;
  let posts = 0;
  const decide = async (event: BoundaryEvent): Promise<Decision> => {
    // The second batch is admitted, and the command hasn't been told.
    if (event.details.kind !== "http" || event.details.method !== "POST" || event.side !== "after")
      return forward;
    posts += 1;
    if (posts !== 2) return forward;
    await victim?.kill("SIGKILL");
    return { do: "drop" };
  };
  const tap = await openHttpTap({
    process: "submit",
    name: "api",
    controller: { decide },
    upstream: api.url,
  });
  const command = (name: string, url: string) =>
    rig.run.spawn({
      name,
      entry: "cli/main.js",
      args: ["submit", folder, "--url", url, "--json"],
      env: { KILLPROOF_API_KEY: keyOf("sue") },
      ready: "spawned",
    });

  victim = await command("killed", `http://127.0.0.1:${tap.port}`);
  expect(await victim.exited).toEqual({ code: null, signal: "SIGKILL" });
  await tap.close();
  const halfWay = await stored();
  expect(halfWay.map(({ invoices, starts }) => [invoices, starts])).toEqual([
    [8, 1],
    [8, 1],
  ]);

  const again = await command("again", api.url);
  expect(await again.exited).toEqual({ code: 0, signal: null });
  const whole = await stored();
  expect(whole.slice(0, 2)).toEqual(halfWay);
  expect(whole.map(({ invoices, starts }) => [invoices, starts])).toEqual([
    [8, 1],
    [8, 1],
    [4, 1],
  ]);
  const once = await command("once-more", api.url);
  expect(await once.exited).toEqual({ code: 0, signal: null });
  expect(await stored()).toEqual(whole);
});
