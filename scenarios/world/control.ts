/** Telling the outside world what to suffer from, and putting documents into it. For demo, tests and lab. */
import type { FaultInput } from "../../services/world/faults/fault.js";
import type { ToldFault } from "../../services/world/faults/book.js";
import { callWorld } from "./call.js";

export type { FaultInput, ToldFault };

export interface WorldControl {
  /**
   * From now on the run's requests suffer from it, until `times` is used up or it is removed.
   *
   * @throws WorldRefused naming the field, the value and what is allowed.
   */
  tellFault(fault: FaultInput): Promise<ToldFault>;
  /** What the run has been told, with how often each has fired: a fault that never fired proves nothing. */
  faults(run: string): Promise<readonly ToldFault[]>;
  /** The repair. @throws WorldRefused when there is no such fault any more. */
  removeFault(id: number): Promise<void>;
  /** Repairs all of a run. @returns how many there were. */
  removeFaults(run: string): Promise<number>;
  /** Puts a document in place, or replaces it. */
  putDocument(documentId: string, mediaType: string, bytes: Uint8Array): Promise<void>;
}

export interface WorldControlOptions {
  /** Of the control listener: `http://127.0.0.1:<port>`. */
  readonly baseUrl: string;
  readonly token: string;
}

export function createWorldControl({ baseUrl, token }: WorldControlOptions): WorldControl {
  const call = (method: string, path: string, body?: { mediaType: string; bytes: Uint8Array | string }) =>
    callWorld({ baseUrl, token, method, path, ...(body === undefined ? {} : { body }) });
  return {
    tellFault: async (fault) =>
      (await call("POST", "/faults", {
        mediaType: "application/json",
        bytes: JSON.stringify(fault),
      })) as ToldFault,
    faults: async (run) => {
      const answer = await call("GET", `/faults?${new URLSearchParams({ run })}`);
      return (answer as { items: ToldFault[] }).items;
    },
    removeFault: async (id) => {
      await call("DELETE", `/faults/${id}`);
    },
    removeFaults: async (run) => {
      const answer = await call("DELETE", `/faults?${new URLSearchParams({ run })}`);
      return (answer as { removed: number }).removed;
    },
    putDocument: async (documentId, mediaType, bytes) => {
      await call("PUT", `/documents/${encodeURIComponent(documentId)}`, { mediaType, bytes });
    },
  };
}
