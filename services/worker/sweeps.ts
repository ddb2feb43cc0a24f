/** The sweep's activities with the adapters that they run on. Every worker has them; the schedule decides when. */
import type { Client } from "@temporalio/client";
import { createSweepActivities, type SweepActivities } from "../../activities/sweeps/index.js";
import type { Ledger } from "../../adapters/ledger/database.js";
import { createOpenRequests } from "../../adapters/ledger/sweeps/open-requests.js";
import { createOverdueTickets } from "../../adapters/ledger/sweeps/overdue-tickets.js";
import { createUnfinishedProcesses } from "../../adapters/ledger/sweeps/unfinished-processes.js";
import { createProcessDirectory } from "../../adapters/temporal/process-directory.js";

export function wireSweeps(ledger: Ledger, client: Client): SweepActivities {
  return createSweepActivities({
    requests: createOpenRequests(ledger),
    processes: createUnfinishedProcesses(ledger),
    tickets: createOverdueTickets(ledger),
    directory: createProcessDirectory(client),
  });
}
