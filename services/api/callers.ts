/**
 * Who may call. A file lists the callers with the SHA-256 of their keys, so reading the file lets nobody call. Keys
 * are long random texts; a slow hash, which protects guessable passwords, would only make every request slow.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { readJsonFile } from "./json-file.js";

/**
 * - `submitter` hands in batches and sees how they stand;
 * - `reviewer` sees reviews and decides on them;
 * - `operator` sees both and decides on nothing;
 * - `provider` reports events from outside.
 */
export const roles = ["submitter", "reviewer", "operator", "provider"] as const;
export type Role = (typeof roles)[number];

export interface Caller {
  /** Recorded with everything that the caller asks for or decides. */
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly Role[];
  /** Where reviewers are told of a new review; without it they look at the list. */
  readonly mail?: string | undefined;
}

const nameText = "must be 1 to 100 of letters, digits and . _ ~ @ + = -";
const name = z.string(nameText).regex(/^[A-Za-z0-9._~@+=-]{1,100}$/, nameText);
const digestText = "must be the SHA-256 of the key in 64 lower-case hex digits";

const callersSchema = z.strictObject({
  callers: z
    .array(
      z.strictObject({
        id: name,
        tenant: name,
        roles: z.array(z.enum(roles, `must be one of ${roles.join(", ")}`)).min(1, "must hold a role"),
        keySha256: z.string(digestText).regex(/^[0-9a-f]{64}$/, digestText),
        mail: z.email("must be a mail address").optional(),
      }),
    )
    .superRefine((callers, context) => {
      for (const field of ["id", "keySha256"] as const) {
        const values = callers.map((caller) => caller[field]);
        for (const [index, value] of values.entries()) {
          if (values.indexOf(value) !== index) {
            context.addIssue({ code: "custom", path: [index, field], message: "must not occur twice" });
          }
        }
      }
    }),
});

export interface CallerDirectory {
  /** The caller with this key, if there is one. Takes the same time for every key. */
  byKey(key: string): Caller | undefined;
  /** Mail addresses of those who may review for a tenant, without one caller. */
  reviewerMails(tenant: string, except: string): readonly string[];
}

/** @throws SettingsError */
export async function readCallers(file: string): Promise<CallerDirectory> {
  const { callers } = await readJsonFile("API_CALLERS_FILE", file, callersSchema);
  return callerDirectory(callers);
}

export function callerDirectory(
  entries: readonly (Caller & { readonly keySha256: string })[],
): CallerDirectory {
  const known = entries.map(({ keySha256, ...caller }) => ({
    caller,
    digest: Buffer.from(keySha256, "hex"),
  }));
  return {
    byKey: (key) => {
      const digest = createHash("sha256").update(key, "utf8").digest();
      let found: Caller | undefined;
      // All of them, whatever was found before: how long it takes says nothing about the keys.
      for (const { caller, digest: other } of known) if (timingSafeEqual(digest, other)) found = caller;
      return found;
    },
    reviewerMails: (tenant, except) => [
      ...new Set(
        known
          .map(({ caller }) => caller)
          .filter(
            ({ id, roles, ...caller }) =>
              caller.tenant === tenant && id !== except && roles.includes("reviewer"),
          )
          .flatMap(({ mail }) => mail ?? []),
      ),
    ],
  };
}
