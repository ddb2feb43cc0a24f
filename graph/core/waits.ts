import type { Delivery, InboxEvent } from "./checkpoint.js";
import { withDeliveries, type Body } from "./write.js";
import type { Working } from "./working.js";

/** Hands events that came before their waits to the waits that are there now, oldest first. */
export function deliverInbox(work: Working, body: Body): Body {
  if (body.waits.length === 0 || work.inbox.length === 0) return body;
  const deliveries: Delivery[] = [];
  const kept: InboxEvent[] = [];
  for (const event of work.inbox) {
    const wait = body.waits.find(
      (open) => open.event === event.event && !deliveries.some((delivery) => delivery.wait.id === open.id),
    );
    if (wait === undefined) kept.push(event);
    else deliveries.push({ wait, payload: event.payload });
  }
  if (deliveries.length > 0) work.inbox = kept;
  return withDeliveries(body, deliveries);
}
