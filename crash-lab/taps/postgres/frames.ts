/**
 * Cuts a byte stream into protocol messages, wherever the network cut it. Ordinary messages come out whole; bulk
 * ones (rows, copy data) come out in the pieces in which they arrived, so that a large one is never kept in memory.
 */
import {
  codeBytes,
  headerBytes,
  lengthBytes,
  messageBytesMax,
  openingLengthMax,
  openingLengthMin,
} from "./codes.js";

export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export interface Frame {
  readonly code: number;
  /** The message with its header, or a piece of a bulk message; pieces joined give the message. */
  readonly bytes: Buffer;
  readonly first: boolean;
  readonly last: boolean;
}

export class FrameReader {
  /** Start of a header that was cut. */
  private header = Buffer.alloc(0);
  /** A message being put together. */
  private parts: Buffer[] = [];
  private partsMissing = 0;
  /** A bulk message being passed on. */
  private bulkCode = 0;
  private bulkMissing = 0;

  constructor(private readonly bulk: ReadonlySet<number>) {}

  /** @throws `ProtocolError` when the bytes can't be this protocol. */
  *read(chunk: Buffer): Generator<Frame> {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.bulkMissing > 0) {
        const piece = chunk.subarray(offset, offset + this.bulkMissing);
        offset += piece.length;
        this.bulkMissing -= piece.length;
        yield { code: this.bulkCode, bytes: piece, first: false, last: this.bulkMissing === 0 };
      } else if (this.partsMissing > 0) {
        const part = chunk.subarray(offset, offset + this.partsMissing);
        offset += part.length;
        const whole = this.assemble(part);
        if (whole !== undefined) yield { code: whole[0]!, bytes: whole, first: true, last: true };
      } else {
        const needed = headerBytes - this.header.length;
        const part = chunk.subarray(offset, offset + needed);
        offset += part.length;
        this.header = Buffer.concat([this.header, part]);
        if (this.header.length === headerBytes) {
          const begun = this.begin(this.header);
          this.header = Buffer.alloc(0);
          if (begun !== undefined) yield begun;
        }
      }
    }
  }

  /** True when the stream stands between two messages. */
  get atBoundary(): boolean {
    return this.header.length === 0 && this.partsMissing === 0 && this.bulkMissing === 0;
  }

  private begin(header: Buffer): Frame | undefined {
    const code = header[0]!;
    const length = header.readInt32BE(codeBytes);
    if (length < lengthBytes || length > messageBytesMax) {
      throw new ProtocolError(
        `message "${String.fromCharCode(code)}" claims ${length} bytes; allowed are ${lengthBytes} to ${messageBytesMax}`,
      );
    }
    const missing = length - lengthBytes;
    if (this.bulk.has(code)) {
      this.bulkCode = code;
      this.bulkMissing = missing;
      return { code, bytes: header, first: true, last: missing === 0 };
    }
    if (missing === 0) return { code, bytes: header, first: true, last: true };
    this.parts = [header];
    this.partsMissing = missing;
    return undefined;
  }

  private assemble(part: Buffer): Buffer | undefined {
    this.parts.push(part);
    this.partsMissing -= part.length;
    if (this.partsMissing > 0) return undefined;
    const whole = Buffer.concat(this.parts);
    this.parts = [];
    return whole;
  }
}

/** Collects the first request of a connection, which has no code. Gives it back once it is complete. */
export class OpeningReader {
  private collected = Buffer.alloc(0);

  /** @returns the request and the bytes behind it, or undefined while it is incomplete. */
  read(chunk: Buffer): { readonly request: Buffer; readonly rest: Buffer } | undefined {
    this.collected = Buffer.concat([this.collected, chunk]);
    if (this.collected.length < lengthBytes) return undefined;
    const length = this.collected.readInt32BE(0);
    if (length < openingLengthMin || length > openingLengthMax) {
      throw new ProtocolError(
        `the connection's first request claims ${length} bytes; allowed are ${openingLengthMin} to ${openingLengthMax}`,
      );
    }
    if (this.collected.length < length) return undefined;
    const request = this.collected.subarray(0, length);
    const rest = this.collected.subarray(length);
    this.collected = Buffer.alloc(0);
    return { request, rest };
  }
}
