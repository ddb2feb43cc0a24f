import { describe, expect, it } from "vitest";
import { RouteTable } from "../../../../crash-lab/taps/http/routes.js";

describe("route templates", () => {
  const routes = new RouteTable([
    "GET /postings/{key}",
    "GET /postings/search",
    "POST /postings",
    "PUT /a/{b}/c/{d}",
  ]);

  it.each([
    ["GET", "/postings/post:kp1", "/postings/{key}"],
    ["GET", "/postings/search?q=1", "/postings/search"],
    ["POST", "/postings/", "/postings"],
    ["PUT", "/a/1/c/2", "/a/{b}/c/{d}"],
    ["PUT", "/a/1/x/2", "/a/{id}/x/{id}"],
    ["DELETE", "/postings/post-7/lines", "/postings/{id}/lines"],
    ["GET", "/", "/"],
  ])("%s %s is %s", (method, path, template) => {
    expect(routes.templateOf(method, path)).toBe(template);
  });

  it.each(["postings", "get /postings", "GET postings", "GET /a b"])("refuses %j", (route) => {
    expect(() => new RouteTable([route])).toThrow(`route "${route}"`);
  });
});
