import { describe } from "vitest";

import { journalContract } from "../../support/operation/journal-contract.js";
import { MemoryJournal } from "../../support/operation/memory-journal.js";

describe("the model of the operations journal", () => {
  journalContract(async () => {
    let now = 1_000;
    const journal = new MemoryJournal(() => (now += 1));
    return {
      journal,
      eventsOf: async (key) => journal.events.filter((event) => event.key === key),
      openQuestions: async (key) =>
        journal.questions.filter((question) => question.key === key && question.answered === null),
      setGeneration: async (ownerId, generation, state) => {
        journal.generations.set(ownerId, { generation, state });
      },
    };
  });
});
