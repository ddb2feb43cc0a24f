/**
 * One look over an XML text before anything reads it as XML: what is forbidden in it, and whether it holds more than an
 * invoice needs. The look goes forward only, so its time grows with the length of the text and no faster, also for a
 * text that is no XML at all.
 */
import { InvalidDocument } from "./invalid-document.js";
import { plainText } from "./values.js";

/**
 * Tags, comments, sections of character data and instructions. A line has about thirty elements, so two thousand lines
 * with all they may carry make 120,000 tags. Reading costs some five microseconds for each, during which the process
 * does nothing else; a rich catalogue refused is the smaller harm than a process that stops for ten seconds.
 */
export const markupMax = 200_000;
/** A line's amounts and quantities name their currency and unit: ten attributes for each of two thousand lines, twice. */
export const attributesMax = 40_000;

/** What decides how the text goes on; everything between two of them is a name, a blank or text. */
const landmarks = /<!--|<!\[CDATA\[|<\?|<|&|=\s*["']/g;
/** Ends of what can hold anything, so that landmarks in it are none. */
const ends: Readonly<Record<string, string>> = { "<!--": "-->", "<![CDATA[": "]]>", "<?": "?>" };

/** @throws InvalidDocument for a document type, an entity, an unknown reference, or too much of anything */
export function requirePlainMarkup(text: string): void {
  const forbidden = /<!(DOCTYPE|ENTITY)/i.exec(text)?.[0];
  if (forbidden !== undefined) {
    throw new InvalidDocument("document", forbidden, "XML without a document type or entities");
  }
  const attributes = new Count("attributes", attributesMax);
  const markup = new Count("tags, comments and sections", markupMax);
  const search = new RegExp(landmarks);
  for (let found = search.exec(text); found; found = search.exec(text)) {
    const [landmark] = found;
    if (landmark === "&") requireKnownReference(text, found.index);
    else if (landmark.startsWith("=")) attributes.addOne();
    else {
      markup.addOne();
      const end = ends[landmark];
      if (end === undefined) continue;
      const endsAt = text.indexOf(end, search.lastIndex);
      // Without an end it isn't well-formed, which the validation says better.
      if (endsAt < 0) return;
      search.lastIndex = endsAt + end.length;
    }
  }
}

class Count {
  private counted = 0;

  constructor(
    private readonly what: string,
    private readonly max: number,
  ) {}

  addOne(): void {
    this.counted += 1;
    if (this.counted > this.max) {
      throw new InvalidDocument("document", `more than ${this.max} ${this.what}`, `at most ${this.max}`);
    }
  }
}

/** Longer than any reference that is allowed, so that it is seen whole or refused. */
const referenceLengthMax = 12;

/** The reader would leave an unknown reference as it stands and drop one of a forbidden character: either way silently. */
function requireKnownReference(text: string, at: number): void {
  const [reference = "&"] = /^&[^;\s<]*;?/.exec(text.slice(at, at + referenceLengthMax)) ?? [];
  if (/^&(?:amp|lt|gt|quot|apos);$/.test(reference)) return;
  const [, hex, decimal] = /^&#(?:x([0-9A-Fa-f]{1,6})|(\d{1,7}));$/.exec(reference) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (!(code <= 0x10_ff_ff)) {
    throw new InvalidDocument("document", reference, "amp, lt, gt, quot, apos and character references");
  }
  plainText("document", String.fromCodePoint(code));
}
