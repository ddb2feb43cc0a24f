/** Who calls, and whether this caller may call this route. Both are settled before the body is read. */
import type { FastifyRequest } from "fastify";
import type { Caller, CallerDirectory, Role } from "./callers.js";
import { ApiProblem } from "./problems.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** One of these is enough. A route without them is open to everybody. */
    readonly roles?: readonly Role[];
  }
  interface FastifyRequest {
    /** Set on every route with roles. */
    caller: Caller | null;
  }
}

/** @throws ApiProblem `Unauthenticated` or `NotAllowed` */
export function authorise(request: FastifyRequest, callers: CallerDirectory): void {
  const roles = request.routeOptions.config.roles;
  if (roles === undefined) return;
  const key = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const caller = key === undefined ? undefined : callers.byKey(key);
  if (caller === undefined) {
    throw new ApiProblem(
      "Unauthenticated",
      key === undefined
        ? "the header Authorization is missing or isn't `Bearer KEY`"
        : "the key in the header Authorization belongs to nobody",
    );
  }
  if (!roles.some((role) => caller.roles.includes(role))) {
    throw new ApiProblem(
      "NotAllowed",
      `${caller.id} is ${caller.roles.join(", ")}; this route is for ${roles.join(", ")}`,
    );
  }
  request.caller = caller;
}

/** The caller of a route with roles. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`The route ${request.routeOptions.url} declares no roles.`);
  return request.caller;
}

/** @throws ApiProblem `NotAllowed` when what is asked for belongs to another tenant */
export function requireOwnTenant(caller: Caller, what: string, tenant: string): void {
  if (tenant !== caller.tenant) throw new ApiProblem("NotAllowed", `${what} belongs to another tenant`);
}
