/** The API killed on either side of a decision's commit, with the workflow waiting for it. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newRunToken } from "../../../crash-lab/taps/tokens.js";
import { openRun, type Run } from "../../../platform/index.js";
import { invoiceKeyOf, startBatch } from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { shiftLedgerClock } from "../../support/database.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { reviewRig } from "../../support/review-rig.js";
import { ask, spawnApi, spawnTappedApi, WindowKiller } from "./process-rig.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
let run: Run;
beforeAll(async () => {
  run = await openRun({ name: "test-decision", handleSignals: false });
});
afterAll(() => run?.close());

/** So long that no timer can be what ended the wait. */
const deadlineMs = 3_600_000;

test("the decision and its hint are one: what was committed is posted without waiting for the deadline", async () => {
  const token = newRunToken();
  const apiKey = `${token}-ann`;
  const ann = {
    id: "ann",
    tenant: `${token}-tenant`,
    roles: ["reviewer"],
    keySha256: createHash("sha256").update(apiKey).digest("hex"),
  };
  await rig.putDocuments(token, [oneApprover]);
  const policy = { ...patientPolicy.workflow, review: { deadlineMs } };
  const batch = approvedBatch(token, { ...patientPolicy, workflow: policy }, [oneApprover]);
  const reviewId = reviewOf(token, oneApprover);
  const spec = { ledgerUrl: rig.database.url, callers: [ann] };
  const hints = async () =>
    (
      await rig.database.ledger
        .selectFrom("outbox")
        .select("id")
        .where("message_key", "=", `hint:${reviewId}:closed`)
        .execute()
    ).length;

  const result = await rig.withWorker({}, async (taskQueue) => {
    const started = await startBatch(rig.client, taskQueue, batch);
    const survivor = await spawnApi(run, { ...spec, name: "survivor" });
    const seen = await seeReview({ baseUrl: survivor.url, apiKey }, reviewId, AbortSignal.timeout(60_000));
    const { revision, fingerprint } = seen;
    const decideAt = (url: string) =>
      ask(`${url}/api/reviews/${encodeURIComponent(reviewId)}/decisions`, apiKey, {
        method: "POST",
        body: JSON.stringify({ decisionId: `d-${token}`, decision: "approve", revision, fingerprint }),
      });
    /** Decides through an API that dies there. @returns what the reviewer was told */
    const decideAndDie = async (name: string, side: "before" | "after") => {
      const killer = new WindowKiller(
        ({ tap, label, side: at }) => tap === "postgres" && /commit/i.test(label) && at === side,
      );
      const api = await spawnTappedApi(run, { ...spec, name }, killer.decide);
      killer.watch(api.process);
      const told = await decideAt(api.url);
      expect(killer.windows.at(-1), JSON.stringify([told, killer.windows])).toMatch(
        new RegExp(`^postgres .*commit ${side}$`),
      );
      expect(await api.process.exited).toEqual({ code: null, signal: "SIGKILL" });
      await api.closeTaps();
      return told;
    };

    expect(await decideAndDie("before-commit", "before")).toBeNull();
    expect(await hints()).toBe(0);
    expect((await ask(`${survivor.url}/api/reviews/${reviewId}`, apiKey))?.body).toMatchObject({
      state: "open",
      decisions: [],
    });

    expect(await decideAndDie("after-commit", "after")).toBeNull();
    expect(await hints()).toBe(1);
    const first = await decideAt(survivor.url);
    expect(first).toEqual({ status: 200, body: { answer: "decided", state: "approved" } });
    expect(await decideAt(survivor.url)).toEqual(first);
    expect(await hints()).toBe(1);

    return reviews.withRelay(() => started.result());
  });
  expect(result.outcomes).toMatchObject([{ outcome: "posted" }]);
  expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, oneApprover))).toHaveLength(1);
});

test("just after the deadline by the ledger's clock: expired is the answer and the end, long before the timer fires", async () => {
  const token = rig.world.newRun();
  await rig.putDocuments(token, [oneApprover]);
  const policy = { ...patientPolicy.workflow, review: { deadlineMs } };
  const batch = approvedBatch(token, { ...patientPolicy, workflow: policy }, [oneApprover]);
  const { ann } = await reviews.openApi(token);
  const result = await reviews.withRelay(() =>
    rig.withWorker({}, async (taskQueue) => {
      const started = await startBatch(rig.client, taskQueue, batch);
      const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
      await shiftLedgerClock(rig.database.ledger, deadlineMs);
      try {
        const late = { status: 409, body: { type: "urn:problem-type:killproof:ReviewExpired" } };
        expect(await decide(ann, seen, "late", "approve")).toMatchObject(late);
        expect(await decide(ann, seen, "late", "approve")).toMatchObject(late);
        return await started.result();
      } finally {
        await shiftLedgerClock(rig.database.ledger, 0);
      }
    }),
  );
  expect(result.outcomes).toMatchObject([{ outcome: "expired" }]);
  expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, oneApprover))).toEqual([]);
});
