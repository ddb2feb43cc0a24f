import type { Migration } from "./migration.js";

/** A ticket can also be withdrawn: whoever waited for the decision has ended, so nobody needs it any more. */
export const operating: Migration = {
  name: "0060-operating",
  breaking: false,
  sql: `
alter table tickets drop constraint tickets_state_check;
alter table tickets add constraint tickets_state_check
  check (state in ('open', 'approved', 'rejected', 'expired', 'withdrawn'));
`,
};
