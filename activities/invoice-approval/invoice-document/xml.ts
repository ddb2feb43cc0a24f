/**
 * Reading XML without trusting it. A document type is refused as such (entities can read files or grow without
 * bound, and no invoice format uses them), and so is any encoding but UTF-8, in which a document type could hide.
 */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { InvalidDocument } from "./invalid-document.js";
import { requirePlainMarkup } from "./markup.js";
import { plainText } from "./values.js";

/** Invoices nest about ten deep; the limit keeps a hostile file from exhausting the stack. */
const depthMax = 40;
/** More lines than any invoice we were sent; a bound on the work that one document can ask for. */
const repeatsMax = 2_000;

const attributePrefix = "@";
const textKey = "#text";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: attributePrefix,
  textNodeName: textKey,
  // Values stay text: as numbers, 007 would lose its zeros and 0.1 its exactness.
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  alwaysCreateTextNode: true,
  // The five predefined entities; others can't be declared without a document type. Character references come with
  // `htmlEntities` only, which also knows HTML's names; those are refused before.
  processEntities: true,
  htmlEntities: true,
  maxNestedTags: depthMax,
});

/** @throws InvalidDocument when the bytes aren't well-formed XML in UTF-8 without a document type */
export function parseXml(bytes: Uint8Array): XmlElement {
  const text = decodeUtf8(bytes);
  const declared = declaredEncoding(text);
  if (declared !== undefined && declared.toUpperCase() !== "UTF-8") {
    throw new InvalidDocument("XML encoding", declared, "UTF-8");
  }
  requirePlainMarkup(text);
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) {
    const { msg, line, col } = verdict.err;
    throw new InvalidDocument("document", `${msg} (line ${line}, column ${col})`, "well-formed XML");
  }
  return rootOf(text);
}

function declaredEncoding(text: string): string | undefined {
  if (!text.trimStart().startsWith("<?xml")) return undefined;
  const declaration = text.slice(0, text.indexOf("?>") + 1);
  return /\bencoding\s*=\s*["']([^"']*)["']/.exec(declaration)?.[1];
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidDocument("document", "bytes that aren't UTF-8", "XML in UTF-8");
  }
}

function rootOf(text: string): XmlElement {
  let tree: unknown;
  try {
    tree = parser.parse(text);
  } catch (error) {
    throw new InvalidDocument("document", (error as Error).message, "well-formed XML");
  }
  const roots = Object.entries(tree as Node).filter(([name]) => name !== textKey);
  const [root] = roots;
  if (roots.length !== 1 || !root || Array.isArray(root[1])) {
    throw new InvalidDocument("document", `${roots.length} root elements`, "exactly one root element");
  }
  return new XmlElement(root[0], root[1] as Node, root[0]);
}

type Node = { readonly [name: string]: unknown };

/** One element. Children are found by local name: which prefix a document uses for a namespace is its own affair. */
export class XmlElement {
  constructor(
    readonly name: string,
    private readonly node: Node,
    /** For messages: the path from the root. */
    readonly path: string,
  ) {}

  get localName(): string {
    return localPart(this.name);
  }

  /** The namespace that is declared on this very element for its own prefix. */
  get namespace(): string | undefined {
    const colon = this.name.indexOf(":");
    return this.attribute(colon < 0 ? "xmlns" : `xmlns:${this.name.slice(0, colon)}`);
  }

  attribute(name: string): string | undefined {
    const value = this.node[`${attributePrefix}${name}`];
    return typeof value === "string" ? value : undefined;
  }

  all(localName: string): readonly XmlElement[] {
    const found = Object.entries(this.node)
      .filter(([name]) => !name.startsWith(attributePrefix) && localPart(name) === localName)
      .flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map(
          (node: Node) => new XmlElement(name, node, `${this.path}/${name}`),
        ),
      );
    if (found.length > repeatsMax) {
      throw new InvalidDocument(
        `${this.path}/${localName}`,
        `${found.length} times`,
        `at most ${repeatsMax}`,
      );
    }
    return found;
  }

  /** Follows a path of elements that occur at most once; a second one would be a choice that isn't ours to make. */
  find(...localNames: readonly string[]): XmlElement | undefined {
    const [first, ...rest] = localNames;
    if (first === undefined) return this;
    const found = this.all(first);
    if (found.length > 1) {
      throw new InvalidDocument(`${this.path}/${first}`, `${found.length} times`, "once");
    }
    return found[0]?.find(...rest);
  }

  require(...localNames: readonly string[]): XmlElement {
    const found = this.find(...localNames);
    if (!found) throw new InvalidDocument(`${this.path}/${localNames.join("/")}`, undefined, "exactly one");
    return found;
  }

  /**
   * The element's own text, never empty. Another element in the middle of a value is refused: its text would be left
   * out and the rest joined, and `268<x/>.85` would become an amount that nobody wrote.
   */
  get text(): string {
    const child = Object.keys(this.node).find(
      (name) => name !== textKey && !name.startsWith(attributePrefix),
    );
    if (child !== undefined)
      throw new InvalidDocument(this.path, `<${child}>`, "text without elements in it");
    const text = this.node[textKey];
    if (typeof text !== "string" || text === "") throw new InvalidDocument(this.path, undefined, "some text");
    return plainText(this.path, text);
  }
}

function localPart(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
