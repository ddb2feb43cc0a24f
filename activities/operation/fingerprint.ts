/**
 * What "the same request" means.
 *
 * A fingerprint covers a *declared business projection* of a request and not the request itself: a deploy that adds
 * a note field then conflicts with nothing that was asked before it. When the projection itself has to change, it
 * gets a new version, and the earlier ones stay declared for as long as operations under them can be asked for
 * again.
 */
import { createHash } from "node:crypto";

import canonicalize from "canonicalize";

import type { JsonValue } from "./json.js";

export interface BusinessProjection<Request> {
  /** Raised when `of` is changed. Stored beside the fingerprint, and part of what is hashed. */
  readonly version: number;
  /** The fields that make two requests the same thing to the business, and nothing else. */
  of(request: Request): JsonValue;
  /** Projections of earlier versions, to compare with fingerprints that were stored under them. Default: none. */
  readonly earlier?: readonly BusinessProjection<Request>[];
}

export interface Fingerprint {
  readonly version: number;
  /** SHA-256 in lower-case hex. */
  readonly digest: string;
}

/**
 * SHA-256 of the canonical JSON (RFC 8785) of the projection and its version.
 *
 * @throws `TypeError` when the projection isn't JSON, for example holds `NaN`.
 */
export function fingerprintOf<Request>(
  request: Request,
  projection: BusinessProjection<Request>,
): Fingerprint {
  const text = canonicalize({ projection: projection.of(request), version: projection.version });
  if (text === undefined) {
    throw new TypeError(`The projection of version ${projection.version} gave no JSON value.`);
  }
  return { version: projection.version, digest: createHash("sha256").update(text, "utf8").digest("hex") };
}

/**
 * Is the request the one that was stored? Compared under the version it was stored with.
 *
 * A version that isn't declared any more can't be compared, and counts as different: a false conflict stops and is
 * seen, a false match sends.
 *
 * @param current the request's fingerprint under `projection`, where the caller has it: making it is the costly part.
 */
export function matchesFingerprint<Request>(
  stored: Fingerprint,
  request: Request,
  projection: BusinessProjection<Request>,
  current?: Fingerprint,
): boolean {
  if (current !== undefined && current.version === stored.version) {
    return current.digest === stored.digest;
  }
  const declared = [projection, ...(projection.earlier ?? [])];
  const same = declared.find((candidate) => candidate.version === stored.version);
  return same !== undefined && fingerprintOf(request, same).digest === stored.digest;
}
