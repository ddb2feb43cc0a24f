import { expect, test } from "vitest";
import { searchAttributes as registered } from "../../platform/index.js";
import { searchAttributes } from "../../workflows/search-attributes.js";

test("what workflows set is what a server is started with", () => {
  const used = searchAttributes.map(({ name, type }) => [name, type.toLowerCase()]);
  const known = Object.entries(registered).map(([name, type]) => [name, type.toLowerCase()]);
  expect(used).toEqual(known);
});
