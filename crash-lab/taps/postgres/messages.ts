/** Reads the fields of single messages. Every function takes a whole message, header included. */
import { errorField, headerBytes, lengthBytes, target } from "./codes.js";
import { ProtocolError } from "./frames.js";

/** Walks through a message's fields; reading past the end is a protocol error and not an undefined value. */
class FieldReader {
  private offset = headerBytes;

  constructor(private readonly message: Buffer) {}

  text(): string {
    const end = this.message.indexOf(0, this.offset);
    if (end === -1) throw new ProtocolError("a text field has no end");
    const value = this.message.toString("utf8", this.offset, end);
    this.offset = end + 1;
    return value;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  int16(): number {
    return this.take(2).readInt16BE(0);
  }

  int32(): number {
    return this.take(4).readInt32BE(0);
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (length < 0 || end > this.message.length) throw new ProtocolError("a field reaches past its message");
    const value = this.message.subarray(this.offset, end);
    this.offset = end;
    return value;
  }
}

export interface ParseMessage {
  /** Empty for the unnamed statement. */
  readonly statement: string;
  readonly sql: string;
}

export function readParse(message: Buffer): ParseMessage {
  const fields = new FieldReader(message);
  return { statement: fields.text(), sql: fields.text() };
}

export interface BindMessage {
  readonly portal: string;
  readonly statement: string;
  /** As sent, in text or binary format; `null` for SQL's null. */
  readonly parameters: readonly (Buffer | null)[];
}

/** A parameter's length that stands for SQL's null. */
const nullLength = -1;

export function readBind(message: Buffer): BindMessage {
  const fields = new FieldReader(message);
  const portal = fields.text();
  const statement = fields.text();
  const formats = fields.int16();
  fields.take(formats * 2);
  const parameters = Array.from({ length: fields.int16() }, () => {
    const length = fields.int32();
    return length === nullLength ? null : fields.take(length);
  });
  return { portal, statement, parameters };
}

export function readQuery(message: Buffer): string {
  return new FieldReader(message).text();
}

export function readExecute(message: Buffer): string {
  return new FieldReader(message).text();
}

export interface Target {
  readonly of: "statement" | "portal";
  readonly name: string;
}

/** For Describe and for Close, which have the same fields. */
export function readTarget(message: Buffer): Target {
  const fields = new FieldReader(message);
  return { of: fields.byte() === target.statement ? "statement" : "portal", name: fields.text() };
}

/** The tag that a command ends with, `INSERT 0 1`. */
export function readCommandTag(message: Buffer): string {
  return new FieldReader(message).text();
}

/** Rows that a tag counts; commands that count none give null. */
export function rowsOfTag(tag: string): number | null {
  const counted = /^(?:INSERT \d+|UPDATE|DELETE|MERGE|SELECT|COPY|FETCH|MOVE) (\d+)$/.exec(tag);
  return counted === null ? null : Number(counted[1]);
}

/** The process id out of BackendKeyData; the key behind it stays with the client. */
export function readBackendPid(message: Buffer): number {
  return new FieldReader(message).int32();
}

export function readTransactionStatus(message: Buffer): number {
  return new FieldReader(message).byte();
}

/** SQLSTATE of an ErrorResponse, `23505`; empty when the server sent none. */
export function readSqlState(message: Buffer): string {
  let offset = headerBytes;
  while (offset < message.length && message[offset] !== 0) {
    const end = message.indexOf(0, offset + 1);
    if (end === -1) break;
    if (message[offset] === errorField.sqlState) return message.toString("utf8", offset + 1, end);
    offset = end + 1;
  }
  return "";
}

/** The number that says what a connection's first request is. */
export function readOpening(request: Buffer): number {
  return request.readInt32BE(lengthBytes);
}
