/** Longer values are cut in messages: they end up in workflow histories and logs. */
const shownValueLengthMax = 80;

/**
 * The document can't be read as an invoice. Trying again gives the same, so the name is in the failure catalogue
 * as not retryable.
 */
export class InvalidDocument extends Error {
  override readonly name = "InvalidDocument";

  /**
   * @param field where in the document, in the words of its format: `Invoice/cbc:IssueDate`
   * @param value what stands there; `undefined` when nothing does
   * @param allowed what would have been accepted
   */
  constructor(
    readonly field: string,
    readonly value: string | undefined,
    readonly allowed: string,
  ) {
    super(`${field} ${described(value)}; allowed: ${allowed}`);
  }
}

function described(value: string | undefined): string {
  if (value === undefined) return "is missing";
  const shown = value.length > shownValueLengthMax ? `${value.slice(0, shownValueLengthMax)}…` : value;
  return `is ${JSON.stringify(shown)}`;
}
