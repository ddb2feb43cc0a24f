/** The few calls to a Temporal server that concern the server itself and not a workflow. */
import { connect } from "node:net";
import { Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { temporal } from "@temporalio/proto";
import { messageOf } from "./errors.js";

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** By these an operator finds cases, whatever their kind. The same on every server and in every namespace. */
export const searchAttributes = {
  KillproofCase: "Keyword",
  KillproofState: "Keyword",
  KillproofTenant: "Keyword",
  KillproofSubject: "Keyword",
  KillproofDeadline: "Datetime",
} as const;

const indexedType = {
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  Datetime: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
} as const;

const connectMsMax = 5_000;

async function withConnection<Result>(
  address: string,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ address, connectTimeout: connectMsMax });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

/** Does the server answer for this namespace? False while it doesn't; never throws. */
export async function isServing(address: string, namespace: string): Promise<boolean> {
  // gRPC waits a second after a refused connection before it tries again; a server is ready in a fifth of that.
  if (!(await accepts(address))) return false;
  try {
    await describe(address, namespace);
    return true;
  } catch {
    return false;
  }
}

async function accepts(address: string): Promise<boolean> {
  const separator = address.lastIndexOf(":");
  return new Promise((resolve) => {
    const socket = connect({ host: address.slice(0, separator), port: Number(address.slice(separator + 1)) });
    const answer = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once("connect", answer(true)).once("error", answer(false));
  });
}

/** @returns what the server says it is. @throws when it can't be reached or has no such namespace. */
export async function describe(
  address: string,
  namespace: string,
): Promise<{ readonly serverVersion: string }> {
  return withConnection(address, async (connection) => {
    await connection.workflowService.describeNamespace({ namespace });
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { serverVersion: serverVersion ?? "" };
  });
}

/** Adds those search attributes that the namespace doesn't have. @throws when one exists with another type. */
export async function addSearchAttributes(address: string, namespace: string): Promise<void> {
  await withConnection(address, async (connection) => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing: Record<string, temporal.api.enums.v1.IndexedValueType> = {};
    for (const [name, type] of Object.entries(searchAttributes)) {
      const existing = customAttributes?.[name];
      if (existing === undefined) missing[name] = indexedType[type];
      else if (existing !== indexedType[type]) {
        throw new Error(`the search attribute ${name} exists with another type than ${type}`);
      }
    }
    if (Object.keys(missing).length === 0) return;
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: missing })
      .catch((error) => {
        // Another run was adding the same ones at the same time.
        if (!/already exist/i.test(messageOf(error))) throw error;
      });
  });
}
