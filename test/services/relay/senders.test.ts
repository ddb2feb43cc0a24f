import {
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { describe, expect, test } from "vitest";

import type { Answer } from "../../../activities/operation/provider.js";
import type { Mail, MailReceipt } from "../../../activities/ports.js";
import type { Claimed } from "../../../adapters/ledger/outbox/delivery.js";
import { deliveryAfterFailure } from "../../../adapters/temporal/workflow-sender.js";
import { reconnectDelayMs } from "../../../services/relay/listener.js";
import { createMailSender, deliveryOf, referenceOf } from "../../../services/relay/mail-sender.js";
import { readSettings } from "../../../services/relay/settings.js";
import { Bell } from "../../../services/relay/wake.js";

const receipt: MailReceipt = {
  messageReference: "MSG-1",
  reference: "r",
  to: "t",
  subject: "s",
  textSha256: "",
};

describe("what the mail system's answers mean", () => {
  test.each<[Answer<MailReceipt>, object]>([
    [
      { outcome: "done", receipt },
      { delivery: "sent", outcome: { messageReference: "MSG-1" } },
    ],
    [
      { outcome: "refused", code: "recipient-refused", detail: "no such person" },
      { delivery: "failed", reason: "refused: recipient-refused: no such person", needsPerson: true },
    ],
    [
      { outcome: "conflict", detail: "other text" },
      { delivery: "failed", needsPerson: true },
    ],
    [
      { outcome: "accepted", operationUrl: "/x", pollAfterMs: 1 },
      { delivery: "failed", needsPerson: true },
    ],
    [
      { outcome: "inProgress", retryAfterMs: 700 },
      { delivery: "again", retryAfterMs: 700 },
    ],
    [
      { outcome: "unknown", cause: "reset" },
      { delivery: "again", error: "reset" },
    ],
  ])("%o", (answer, delivery) => {
    expect(deliveryOf(answer)).toMatchObject(delivery);
  });
});

describe("a mail that may have been sent", () => {
  const claimed = (claim: number, ageMs: number): Claimed<"mail"> => ({
    id: 1,
    messageKey: "mail:t1:ann@example.com",
    orderingKey: "mail:ann@example.com",
    message: { kind: "mail", to: "ann@example.com", subject: "s", text: "t" },
    owner: "one",
    claim,
    ageMs,
  });
  const sender = (policy: Partial<Mail["policy"]>) => {
    const keys: string[] = [];
    const send = createMailSender({
      name: "mail",
      policy: {
        honoursKeys: true,
        keysLiveForMs: 10_000,
        canFind: false,
        settleMs: 0,
        parkAfterMs: 0,
        ...policy,
      },
      send: async (_, { providerKey }) => {
        keys.push(providerKey);
        return { outcome: "done", receipt };
      },
      sameEffect: () => true,
    });
    return { keys, send };
  };

  test("has a reference that the mail system takes, also where its key is longer", () => {
    const key = `mail:${"b".repeat(64)}:${"i".repeat(100)}:1:${"a".repeat(60)}@example.com`;
    const reference = referenceOf(key);
    expect(reference).toMatch(/^mail:[0-9a-f]{64}$/);
    expect(referenceOf(key)).toBe(reference);
    expect(referenceOf(`${key}x`)).not.toBe(reference);
    expect(referenceOf("m".repeat(200))).toBe("m".repeat(200));
  });

  test("is sent again under its key while that lives", async () => {
    const { keys, send } = sender({});
    await send(claimed(1, 60_000));
    await send(claimed(2, 5_000));
    expect(keys).toEqual(["mail:t1:ann@example.com", "mail:t1:ann@example.com"]);
  });

  test("goes to a person when the key may be forgotten or was never honoured", async () => {
    const forgotten = sender({});
    expect(await forgotten.send(claimed(2, 5_001))).toMatchObject({
      delivery: "failed",
      needsPerson: true,
    });
    const keyless = sender({ honoursKeys: false, keysLiveForMs: null });
    expect(await keyless.send(claimed(2, 1))).toMatchObject({ delivery: "failed", needsPerson: true });
    expect([...forgotten.keys, ...keyless.keys]).toEqual([]);
  });
});

describe("what a failed call to Temporal means", () => {
  const grpc = (code: number, details: string) =>
    new ServiceError("failed", { cause: Object.assign(new Error(details), { code, details, metadata: {} }) });
  test("a workflow that ran before has its start", () => {
    const error = new WorkflowExecutionAlreadyStartedError("ran before", "w1", "invoiceBatch");
    expect(deliveryAfterFailure(error)).toEqual({ delivery: "sent", outcome: { alreadyStarted: true } });
  });
  test("a closed workflow can't be woken, which needs nobody", () => {
    expect(deliveryAfterFailure(new WorkflowNotFoundError("not found", "w1", undefined))).toMatchObject({
      delivery: "failed",
      needsPerson: false,
      outcome: { workflowId: "w1" },
    });
  });
  test("a request that can't be right goes to a person", () => {
    expect(deliveryAfterFailure(grpc(3, "id too long"))).toMatchObject({
      delivery: "failed",
      reason: "id too long",
      needsPerson: true,
    });
  });
  test.each([1, 4, 8, 13, 14])("gRPC status %i is sent again", (code) => {
    expect(deliveryAfterFailure(grpc(code, "trouble"))).toMatchObject({
      delivery: "again",
      error: "trouble",
    });
  });
});

describe("settings", () => {
  const good = {
    LEDGER_URL: "postgres://me:secret@127.0.0.1/ledger",
    MAIL_URL: "http://127.0.0.1:1",
    MAIL_API_KEY: "hush",
  };
  test("defaults keep the lease longer than a send", () => {
    const settings = readSettings(good);
    expect(settings.RELAY_LEASE_MS).toBeGreaterThan(settings.RELAY_SEND_TIMEOUT_MS);
    expect(settings.MAIL_KEYS_LIVE_MS).toBeNull();
  });
  test("bad ones are named with their value, secrets without", () => {
    expect(() =>
      readSettings({ ...good, RELAY_POLL_MS: "often", LEDGER_URL: "mysql://me:secret@x/y" }),
    ).toThrow(
      /^LEDGER_URL must be the ledger's address: .*; it is set to 21 characters \(not shown\)\nRELAY_POLL_MS must be a whole number of milliseconds, at least 10; it is "often"$/,
    );
    expect(() => readSettings({ ...good, RELAY_LEASE_MS: "10000" })).toThrow(
      "RELAY_LEASE_MS must be longer than RELAY_SEND_TIMEOUT_MS (10000)",
    );
  });
});

describe("waking", () => {
  test("a bell that was rung before ends the next wait at once, and only that one", async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    expect(await bell.wait(60_000)).toBe("rung");
    expect(await bell.wait(1)).toBe("timeout");
    const waiting = bell.wait(60_000);
    bell.ring();
    expect(await waiting).toBe("rung");
  });
  test("the waits between tries to connect double up to half a minute", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => reconnectDelayMs(failures, 0));
    expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(reconnectDelayMs(3, 1)).toBe(1_000);
  });
});
