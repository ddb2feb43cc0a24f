/** What a posting does to the books. */
import type pg from "pg";
import { jsonAnswer, problemAnswer, type WireAnswer } from "../answer.js";
import { problemType } from "../http/problem.js";
import type { KeyedEffect } from "../keyed-effect.js";
import { insertPosting, postingWithNumber, type Posting, type PostingRequest } from "./posting.js";

export const postEffect: KeyedEffect<PostingRequest> = {
  system: "accounting",
  operation: "post",
  keyOf: ({ invoiceKey }) => invoiceKey,
  commit: async (client, posting, { faults, request }) => {
    if (faults.exists !== undefined || faults.uniqueNumber !== undefined) {
      const there =
        (await postingWithNumber(client, posting)) ??
        (faults.exists && (await enterByHand(client, posting, faults.exists.amountMinor, request)));
      if (there !== undefined) return alreadyThere(there);
    }
    const entry = await insertPosting(client, posting, "client");
    await request.committed(client, "post", posting);
    return jsonAnswer(201, entry);
  },
};

/** The other company's clerk was faster. */
async function enterByHand(
  client: pg.PoolClient,
  asked: PostingRequest,
  amountMinor: number | undefined,
  request: Parameters<typeof postEffect.commit>[2]["request"],
): Promise<Posting> {
  const posting = { ...asked, amountMinor: amountMinor ?? asked.amountMinor };
  const entry = await insertPosting(client, posting, "manual");
  await request.committed(client, "manual", posting);
  return entry;
}

/** Says only that there is one: what it holds has to be looked up. */
function alreadyThere({ entryReference, supplierId, invoiceNumber }: Posting): WireAnswer {
  return problemAnswer({
    type: problemType("accounting", "posting-exists"),
    title: "Posting exists",
    status: 409,
    detail: `Document ${invoiceNumber} of supplier ${supplierId} is posted already, as ${entryReference}.`,
    code: "exists",
  });
}
