import { expect, test } from "vitest";
import { attributesMax, markupMax } from "../../../../activities/invoice-approval/invoice-document/markup.js";
import { parseXml } from "../../../../activities/invoice-approval/invoice-document/xml.js";
import { costOfFourfold } from "../../../support/computing-cost.js";
import { sampleText } from "../../../support/samples.js";

const parse = (text: string) => parseXml(new TextEncoder().encode(text));

const repeated: Record<string, (times: number) => string> = {
  "comments without an end": (times) => `<a>${"<!--".repeat(times)}`,
  "character data without an end": (times) => `<a>${"<![CDATA[".repeat(times)}`,
  "instructions without an end": (times) => `<a>${"<?".repeat(times)}`,
  "comments and character data in turn": (times) => `<a>${"<!--<![CDATA[".repeat(times)}`,
  "tags without an end": (times) => "<a".repeat(times),
  "references without an end": (times) => `<a>${"&".repeat(times)}</a>`,
  "references that are known": (times) => `<a>${"&#65;".repeat(times)}</a>`,
  "blanks in a tag": (times) => `<a${" ".repeat(times)}b${" ".repeat(times)}=${" ".repeat(times)}"1"/>`,
  "equals signs and blanks": (times) => `<a>${"= ".repeat(times)}</a>`,
  "declared encodings": (times) => `<?xml ${"encoding ".repeat(times)}?><a/>`,
  "quotes of a declaration": (times) => `<?xml ${"encoding='".repeat(times)}`,
};

test.each(Object.entries(repeated))(
  "four times as many %s cost about four times as much",
  (_what, textOf) => {
    expect(costOfFourfold((times) => parse(textOf(times)), 20_000)).toBeLessThan(8);
  },
);

test("refuses more markup than an invoice has, and takes the most that is allowed", () => {
  const siblings = (count: number) => `<a>${"<b/>".repeat(count)}</a>`;
  expect(parse(siblings(markupMax - 2)).localName).toBe("a");
  expect(() => parse(siblings(markupMax - 1))).toThrow(`document is "more than ${markupMax} tags`);
  expect(() => parse(`<a>${"<!---->".repeat(markupMax)}</a>`)).toThrow("comments and sections");
});

test("refuses more attributes than an invoice has, and takes the most that are allowed", () => {
  const attributes = (count: number) =>
    `<a ${Array.from({ length: count }, (_, index) => `b${index} = '1'`).join(" ")}/>`;
  expect(parse(attributes(attributesMax)).attribute("b7")).toBe("1");
  expect(() => parse(attributes(attributesMax + 1))).toThrow(`more than ${attributesMax} attributes`);
});

test("an invoice of two thousand lines stays below the limits", async () => {
  const text = await sampleText("office-supplies.ubl.xml");
  const [line = ""] = /<cac:InvoiceLine>[^]*?<\/cac:InvoiceLine>/.exec(text) ?? [];
  expect(line).not.toBe("");
  const lines = text.replace(line, line.repeat(1_998));
  expect(parse(lines).all("InvoiceLine")).toHaveLength(2_000);
});

test("markup inside comments and character data counts for nothing", () => {
  const noise = "<b c='1'>&nbsp;".repeat(markupMax);
  expect(parse(`<a>x<!--${noise}--></a>`).text).toBe("x");
  expect(parse(`<a><![CDATA[${noise}]]></a>`).text).toBe(noise);
});
