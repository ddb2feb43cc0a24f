/**
 * Route templates: `GET /postings/{invoiceKey}`. They make one label of the requests of all runs, and they are
 * given instead of guessed, because only the person who knows the API knows which parts of a path are ids.
 */

interface Route {
  readonly method: string;
  readonly template: string;
  readonly segments: readonly string[];
}

const routePattern = /^([A-Z]+) (\/\S*)$/;
const parameterPattern = /^\{[^{}]+\}$/;

export class RouteTable {
  private readonly routes: readonly Route[];

  /** @throws Error naming the first route that is none. */
  constructor(routes: readonly string[]) {
    this.routes = routes.map(parseRoute);
  }

  /**
   * The template of a request. A path that no template fits keeps its words; parts with a digit in them are taken
   * for ids.
   */
  templateOf(method: string, path: string): string {
    const pathname = path.split(/[?#]/, 1)[0]!;
    const segments = segmentsOf(pathname);
    // The template with the most fixed parts wins, so `/postings/search` isn't read as an id.
    const fitting = this.routes
      .filter((route) => route.method === method && fits(route.segments, segments))
      .sort((a, b) => fixedParts(b) - fixedParts(a));
    return fitting[0]?.template ?? `/${segments.map((one) => (/\d/.test(one) ? "{id}" : one)).join("/")}`;
  }
}

function parseRoute(route: string): Route {
  const parts = routePattern.exec(route);
  if (parts === null) {
    throw new Error(
      `route "${route}": write it as a method in capitals and a path, "GET /postings/{invoiceKey}"`,
    );
  }
  return { method: parts[1]!, template: parts[2]!, segments: segmentsOf(parts[2]!) };
}

const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

const fits = (template: readonly string[], path: readonly string[]): boolean =>
  template.length === path.length &&
  template.every((segment, at) => parameterPattern.test(segment) || segment === path[at]);

const fixedParts = (route: Route): number =>
  route.segments.filter((one) => !parameterPattern.test(one)).length;
