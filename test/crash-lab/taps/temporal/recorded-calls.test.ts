/** Recorded bodies: the same messages wherever they are cut, and the facts that name events. */
import { readFileSync } from "node:fs";
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  callOf,
  closesWorkflow,
  commandsLabel,
  deliveredTasks,
  kindOf,
  requestFacts,
} from "../../../../crash-lab/taps/temporal/calls.js";
import { DeliveryBook } from "../../../../crash-lab/taps/temporal/deliveries.js";
import {
  GrpcFrameError,
  GrpcFrameReader,
  unaryMessage,
} from "../../../../crash-lab/taps/temporal/grpc-frames.js";
import type { DeliveredTask } from "../../../../crash-lab/taps/event.js";
import type { RecordedCall } from "../recordings/record-temporal.js";

const recorded = JSON.parse(
  readFileSync(new URL("../recordings/temporal-greeting.json", import.meta.url), "utf8"),
) as RecordedCall[];
const bodies = recorded.flatMap(({ path, request, requestEncoding, answer, answerEncoding }) => [
  { name: `${callOf(path)} request`, encoding: requestEncoding, body: Buffer.from(request, "base64") },
  { name: `${callOf(path)} answer`, encoding: answerEncoding, body: Buffer.from(answer, "base64") },
]);

function messages(chunks: readonly Buffer[], encoding: string): string[] {
  const reader = new GrpcFrameReader(encoding);
  const found = chunks.flatMap((chunk) => [...reader.read(chunk)].map((message) => message.toString("hex")));
  expect(reader.atBoundary).toBe(true);
  return found;
}

const framed = (payload: Buffer, flag: number): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(payload.length, 1);
  return Buffer.concat([prefix, payload]);
};

describe("gRPC messages", () => {
  it("are the same when a recorded body is cut at any byte, and two in one chunk are two", () => {
    expect(bodies.filter(({ encoding }) => encoding === "gzip").length).toBeGreaterThan(10);
    for (const { name, encoding, body } of bodies) {
      const whole = messages([body], encoding);
      expect(whole, name).toHaveLength(1);
      const cuts = Array.from({ length: body.length - 1 }, (_, at) => at + 1);
      const wrong = cuts.filter(
        (cut) => messages([body.subarray(0, cut), body.subarray(cut)], encoding).join() !== whole.join(),
      );
      expect(wrong, name).toEqual([]);
      expect(
        messages(
          Array.from(body, (_, at) => body.subarray(at, at + 1)),
          encoding,
        ),
        name,
      ).toEqual(whole);
      expect(messages([Buffer.concat([body, body])], encoding), name).toEqual([...whole, ...whole]);
    }
  });

  it("are unpacked by the flag of each", () => {
    const plain = Buffer.from("plain");
    const chunk = Buffer.concat([framed(plain, 0), framed(gzipSync("packed"), 1)]);
    expect([...new GrpcFrameReader("gzip").read(chunk)].map(String)).toEqual(["plain", "packed"]);
    expect(String(unaryMessage(framed(deflateSync("packed"), 1), "deflate"))).toBe("packed");
    expect(unaryMessage(Buffer.alloc(0), "gzip")).toBeNull();
  });

  it("that are none, or packed in an unknown way, are refused", () => {
    expect(() => unaryMessage(framed(Buffer.from("x"), 1), "zstd")).toThrow(GrpcFrameError);
    expect(() => [...new GrpcFrameReader("identity").read(Buffer.from("GET / HTTP/1.1"))]).toThrow(/claims/);
  });
});

describe("recorded calls", () => {
  const deliveries = new DeliveryBook();
  const facts = recorded.map(({ path, request, requestEncoding, answer, answerEncoding }) => {
    const call = callOf(path);
    const known = requestFacts(call, unaryMessage(Buffer.from(request, "base64"), requestEncoding)!);
    const delivered = deliveredTasks(
      call,
      unaryMessage(Buffer.from(answer, "base64"), answerEncoding)!,
      known.identity || "recorded-worker",
    );
    for (const task of delivered) deliveries.add(task);
    return { call, known, delivered };
  });
  const byCall = (name: string) => facts.filter(({ call }) => call === name);

  it("say which workflow they are about", () => {
    expect(byCall("StartWorkflowExecution")[0]!.known).toMatchObject({
      workflowId: "greeting-kp0123456789ab",
      workflowType: "greeting",
    });
    for (const { known } of [
      ...byCall("RespondWorkflowTaskCompleted"),
      ...byCall("RespondActivityTaskCompleted"),
    ]) {
      expect(deliveries.of(known.taskToken!)).toMatchObject({ workflowId: "greeting-kp0123456789ab" });
    }
  });

  it("say what the worker did with the workflow task", () => {
    expect(byCall("RespondWorkflowTaskCompleted").map(({ known }) => commandsLabel(known.commands))).toEqual([
      "ScheduleActivityTask",
      "StartTimer",
      "ScheduleActivityTask",
      "CompleteWorkflowExecution",
    ]);
  });

  it("deliver tasks to the identity that asked, eager ones inside another answer", () => {
    const tasks = facts.flatMap(({ delivered }) => delivered);
    expect(tasks.map(({ kind, activityType, eager }) => [kind, activityType, eager])).toEqual([
      ["workflow-task", null, false],
      ["activity-task", "greet", true],
      ["workflow-task", null, false],
      ["workflow-task", null, false],
      ["activity-task", "greet", true],
      ["workflow-task", null, false],
    ]);
    expect(new Set(tasks.map(({ identity }) => identity))).toEqual(new Set(["recorded-worker"]));
  });
});

describe("what calls are", () => {
  it.each([
    ["PollActivityTaskQueue", "poll"],
    ["RespondActivityTaskFailed", "task-answer"],
    ["RecordActivityTaskHeartbeat", "heartbeat"],
    ["SignalWorkflowExecution", "message"],
    ["ListOpenWorkflowExecutions", "service"],
    ["GetSystemInfo", "service"],
    ["RecordWorkerHeartbeat", "service"],
    ["SomethingNewExecution", "message"],
    ["Getaway", "message"],
  ] as const)("%s is a %s", (call, kind) => {
    expect(kindOf(call)).toBe(kind);
  });

  it("counts commands of a kind that follow each other", () => {
    expect(commandsLabel(["StartTimer", "StartChildWorkflowExecution", "StartChildWorkflowExecution"])).toBe(
      "StartTimer+StartChildWorkflowExecutionx2",
    );
    expect(commandsLabel([])).toBe("none");
    expect(closesWorkflow(["CompleteWorkflowExecution"])).toBe(true);
    expect(closesWorkflow(["ContinueAsNewWorkflowExecution"])).toBe(false);
  });
});

describe("the delivery record", () => {
  it("keeps a task after its answer, since a lost answer is sent again, but no longer as open", () => {
    const book = new DeliveryBook();
    const task = { taskToken: "dG9rZW4=", identity: "worker-1" } as DeliveredTask;
    book.add(task);
    expect(book.open()).toEqual([task]);
    book.answered(task.taskToken);
    book.answered("unknown");
    expect(book.open()).toEqual([]);
    expect(book.of(task.taskToken)).toBe(task);
  });
});
