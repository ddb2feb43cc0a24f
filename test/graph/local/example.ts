import { z } from "zod";
import {
  append,
  createRunner,
  defineGraph,
  END,
  implement,
  last,
  send,
  START,
} from "../../../graph/index.js";

const trip = defineGraph({
  name: "trip",
  version: "1",
  state: { items: last<readonly string[]>({ default: [] }), log: append<string>() },
  input: ["items"],
  output: ["log"],
})
  .node("plan")
  .node("book", { arg: z.object({ item: z.string() }), retry: { attempts: 3 }, timeout: "30s" })
  .node("sum")
  .edge(START, "plan")
  .route("plan", ["book", END])
  .edge("book", "sum")
  .build();

const code = implement(trip, {
  nodes: {
    plan: () => ({ log: "planned" }),
    book: ({ item }) => ({ log: `booked ${item}` }),
    sum: ({ log }) => ({ log: `${log.length} entries` }),
  },
  routes: { plan: ({ items }) => items.map((item) => send("book", { item })) },
});

export const { values } = await createRunner(code).invoke({ items: ["flight", "hotel"] });
// { log: ["planned", "booked flight", "booked hotel", "3 entries"] }
