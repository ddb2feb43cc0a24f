/** What validation concludes, in a shape that goes through workflow history. */

/** `duplicate`: the invoice, or its number, already belongs to another processing that is open or posted. */
export type InvoiceCheck = "valid" | "rejected" | "needs-review" | "duplicate";

export type InvoiceAssessment = {
  readonly check: InvoiceCheck;
  /** Why, in the order of the rules; empty when valid. */
  readonly findings: readonly Finding[];
  /** The stored invoice that was looked at, and the only one that may be posted on this assessment. */
  readonly payloadDigest: string;
  readonly currency: string;
  /** Gross total in minor units of `currency`. */
  readonly amountMinor: number;
  /** How many people have to agree when the check is `needs-review`, else 0. */
  readonly approvalsNeeded: number;
  /** The processing that holds the invoice, when the check is `duplicate`. */
  readonly duplicateOf?: string;
};

export type Finding = {
  readonly rule: RuleName;
  /** Where in the extracted invoice: `lines[2].netMinor`. */
  readonly field: string;
  /** What would be right, and what is there, both for people. */
  readonly expected: string;
  readonly actual: string;
};

export type RuleName =
  | "currency-supported"
  | "line-net"
  | "lines-total"
  | "adjustments-total"
  | "net-total"
  | "vat-category"
  | "vat-breakdown"
  | "vat-amount"
  | "vat-total"
  | "gross-total"
  | "payable-total"
  | "gross-positive"
  | "supplier-known"
  | "supplier-name"
  | "supplier-currency"
  | "review-threshold"
  | "number-unused";

/** The figures of the policy that validation depends on. Amounts in minor units, whatever the currency. */
export type AssessmentRules = {
  readonly currencies: readonly string[];
  readonly reviewFromMinor: number;
  readonly twoApproversFromMinor: number;
};

/** A supplier as the buyer knows it. */
export type KnownSupplier = {
  readonly vatId: string;
  readonly name: string;
  /** Currencies that were agreed on; an invoice in another one is looked at by a person. */
  readonly currencies: readonly string[];
};
