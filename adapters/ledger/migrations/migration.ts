/** One step of the ledger's schema. Once committed to the main branch a step is never edited; a new one follows. */
export interface Migration {
  /** `0007-what-it-does`; the number gives the step's place in the order. */
  readonly name: `${number}-${string}`;
  /**
   * Set when a process that was built before this step would do wrong on the new schema. Such a process then
   * refuses to start. A new table or a column with a default isn't breaking.
   */
  readonly breaking: boolean;
  /** Run as one script inside the step's transaction, so nothing that can't be in one (`create index concurrently`). */
  readonly sql: string;
}
