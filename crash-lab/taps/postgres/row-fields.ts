/**
 * Looks through rows for run tokens, field by field, in whatever pieces they arrive. Fields, because the length in
 * front of one can look like a letter, and then the token behind it would seem to have no delimiter.
 */
import { RunTokenScanner } from "../tokens.js";
import { headerBytes } from "./codes.js";

const countBytes = 2;
const fieldLengthBytes = 4;

export class RowTokenScanner {
  private readonly scanner = new RunTokenScanner();
  private skip = 0;
  private length = Buffer.alloc(0);
  private fieldMissing = 0;

  /** @param first the piece begins a row. */
  push(piece: Buffer, first: boolean): void {
    if (first) this.skip = headerBytes + countBytes;
    let offset = 0;
    while (offset < piece.length) {
      if (this.skip > 0) {
        const skipped = Math.min(this.skip, piece.length - offset);
        this.skip -= skipped;
        offset += skipped;
      } else if (this.fieldMissing > 0) {
        const part = piece.subarray(offset, offset + this.fieldMissing);
        offset += part.length;
        this.fieldMissing -= part.length;
        this.scanner.push(part);
        if (this.fieldMissing === 0) this.scanner.end();
      } else {
        const part = piece.subarray(offset, offset + fieldLengthBytes - this.length.length);
        offset += part.length;
        this.length = Buffer.concat([this.length, part]);
        if (this.length.length === fieldLengthBytes) {
          // A null field has the length -1 and no bytes.
          this.fieldMissing = Math.max(0, this.length.readInt32BE(0));
          this.length = Buffer.alloc(0);
        }
      }
    }
  }

  get tokens(): ReadonlySet<string> {
    return this.scanner.tokens;
  }
}
