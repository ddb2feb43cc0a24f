/**
 * HTML that can't be broken out of: whatever is put into the template is escaped, unless it came from this template
 * itself. Windows, keys and error texts are other people's words, and some of them are there to be shown to a browser.
 */
export class Markup {
  constructor(readonly text: string) {}
}

type Content = Markup | string | number | readonly Content[];

export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(
    strings.map((part, at) => part + (at < values.length ? rendered(values[at]!) : "")).join(""),
  );
}

function rendered(value: Content): string {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(rendered).join("");
  return escaped(String(value));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (each) => entities[each]!);

/**
 * JSON for a `<script type="application/json">`: there a browser looks for the end of the script and for comments
 * before it reads any JSON, so no `<` may stand in it. U+2028 and U+2029 end a line in older readers of JavaScript.
 */
export function jsonForScript(value: unknown): Markup {
  return new Markup(
    JSON.stringify(value).replace(
      /[<>\u2028\u2029]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  );
}
