/** The suppliers on file, from a JSON file: a list of `{ vatId, name, currencies }`. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { KnownSupplier } from "../../activities/invoice-approval/assessment.js";
import type { SupplierDirectory } from "../../activities/invoice-approval/ports.js";

const suppliersSchema = z
  .array(
    z.strictObject({
      vatId: z
        .string()
        .regex(/^[A-Z]{2}[A-Z0-9+*.-]{2,14}$/, "must be a VAT identifier in capitals without blanks"),
      name: z.string().min(1),
      currencies: z.array(z.string().regex(/^[A-Z]{3}$/, "must be an ISO 4217 code")).min(1),
    }),
  )
  .min(1, "must hold one supplier or more");

/** The file can't be used; a person has to correct it. */
export class InvalidSuppliersFile extends Error {
  override readonly name = "InvalidSuppliersFile";
}

/**
 * Reads the file once: a supplier added to it counts from the next start on.
 *
 * @throws InvalidSuppliersFile naming the file, the place in it and what is allowed
 */
export async function readSupplierDirectory(path: string): Promise<SupplierDirectory> {
  const suppliers = new Map<string, KnownSupplier>();
  for (const supplier of await readSuppliers(path)) {
    if (suppliers.has(supplier.vatId)) {
      throw new InvalidSuppliersFile(`${path}: ${supplier.vatId} is there twice; allowed: once.`);
    }
    suppliers.set(supplier.vatId, supplier);
  }
  return { find: async (vatId) => suppliers.get(vatId) };
}

async function readSuppliers(path: string): Promise<readonly KnownSupplier[]> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new InvalidSuppliersFile(`${path} can't be read as JSON: ${(error as Error).message}`);
  }
  const result = suppliersSchema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new InvalidSuppliersFile(`${path}: ${issue!.path.join(".") || "the list"}: ${issue!.message}`);
}
