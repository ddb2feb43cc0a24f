/**
 * gRPC messages inside HTTP/2 bodies: a flag, a length, and the message, which may be compressed. The tap passes
 * bodies on as they are and unpacks a copy, only to read what the message says.
 */
import { gunzipSync, inflateSync } from "node:zlib";

const flagBytes = 1;
const lengthBytes = 4;
export const prefixBytes = flagBytes + lengthBytes;
const compressedFlag = 1;

/** More than any limit that Temporal or its clients set; a larger figure means that this isn't gRPC. */
const messageBytesMax = 512 * 1024 * 1024;

export class GrpcFrameError extends Error {
  override readonly name = "GrpcFrameError";
}

/** Cuts a body into messages, wherever the network cut it. */
export class GrpcFrameReader {
  private collected: Buffer = Buffer.alloc(0);

  /** @param encoding value of the header `grpc-encoding`; `identity` when there was none. */
  constructor(private readonly encoding: string) {}

  /** @throws `GrpcFrameError` for a body that is no gRPC or has an unknown compression. */
  *read(chunk: Buffer): Generator<Buffer> {
    this.collected = this.collected.length === 0 ? chunk : Buffer.concat([this.collected, chunk]);
    while (this.collected.length >= prefixBytes) {
      const length = this.collected.readUInt32BE(flagBytes);
      if (length > messageBytesMax) throw new GrpcFrameError(`a message claims ${length} bytes`);
      const end = prefixBytes + length;
      if (this.collected.length < end) return;
      const flag = this.collected[0]!;
      const payload = this.collected.subarray(prefixBytes, end);
      this.collected = this.collected.subarray(end);
      yield flag === compressedFlag ? decompress(payload, this.encoding) : payload;
    }
  }

  get atBoundary(): boolean {
    return this.collected.length === 0;
  }
}

/** The one message of a unary call; `null` for a body without one, as an answer that failed has. */
export function unaryMessage(body: Buffer, encoding: string): Buffer | null {
  const [message] = new GrpcFrameReader(encoding).read(body);
  return message ?? null;
}

function decompress(payload: Buffer, encoding: string): Buffer {
  if (encoding === "gzip") return gunzipSync(payload);
  if (encoding === "deflate") return inflateSync(payload);
  throw new GrpcFrameError(`a message is compressed with "${encoding}"; known are gzip and deflate`);
}
