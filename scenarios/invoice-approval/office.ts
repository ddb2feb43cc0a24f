/** Who works with the invoice process in demo and lab: their names, roles and keys, and the files that the API reads. */
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Role } from "../../services/api/callers.js";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";

export const people = {
  submitter: { roles: ["submitter"] },
  ann: { roles: ["reviewer"], mail: "ann@reviewers.example" },
  bob: { roles: ["reviewer"], mail: "bob@reviewers.example" },
} as const satisfies Record<string, { readonly roles: readonly Role[]; readonly mail?: string }>;

export type Person = keyof typeof people;

/** They all belong to one company. */
export const officeTenant = "office";

export interface Office {
  readonly callersFile: string;
  /** Each person's key of the API. */
  readonly keys: Readonly<Record<Person, string>>;
  /** Writes a policy for an API to read; the same policy into the same file. @returns the file's path */
  policyFile(policy: InvoicePolicy): string;
}

/** @param folder where the files go; the API keeps only digests of the keys */
export async function openOffice(folder: string): Promise<Office> {
  const names = Object.keys(people) as Person[];
  const keys = Object.fromEntries(
    names.map((name) => [name, randomBytes(24).toString("hex")]),
  ) as unknown as Office["keys"];
  const callers = names.map((id) => ({
    id,
    tenant: officeTenant,
    ...people[id],
    keySha256: createHash("sha256").update(keys[id]).digest("hex"),
  }));
  const callersFile = join(folder, "callers.json");
  await writeFile(callersFile, JSON.stringify({ callers }));
  return {
    callersFile,
    keys,
    policyFile: (policy) => {
      const content = JSON.stringify(policy);
      const digest = createHash("sha256").update(content).digest("hex").slice(0, 16);
      const file = join(folder, `policy-${digest}.json`);
      // At once: a process is about to be started with it.
      writeFileSync(file, content);
      return file;
    },
  };
}
