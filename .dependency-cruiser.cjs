/**
 * Who may know whom. Each rule says what a violation would mean; `test/unit/layers.test.ts` proves that each of
 * them fails on a forbidden import, type-only ones included.
 */
const production = "^(workflows|activities|adapters|graph|services/(worker|api|relay))/";

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "workflows-are-deterministic",
      comment:
        "Workflow code is replayed: whatever it imports must give the same on every replay, so no I/O, clock or randomness. It may know Temporal's workflow API, the failure catalogue and pure graph parts.",
      severity: "error",
      from: { path: "^workflows/" },
      to: {
        pathNot: [
          "^workflows/",
          "^failures/",
          "^graph/core/",
          "^node_modules/@temporalio/(workflow|common)/",
          "^activities/",
        ],
      },
    },
    {
      name: "workflows-know-activities-as-types",
      comment:
        "An activity imported as a value would run inside the workflow and be repeated with every replay. Import its type. Operation keys are made in the workflow, by a file that is pure and imports nothing.",
      severity: "error",
      from: { path: "^workflows/" },
      to: {
        path: "^activities/",
        pathNot: "^activities/operation/keys[.]ts$",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "activities-know-ports-only",
      comment:
        "An activity that knows SQL or HTTP can't be run against another implementation, and hides a boundary the crash lab must see. It takes ports.",
      severity: "error",
      from: { path: "^activities/" },
      to: {
        path: [
          "^adapters/",
          "^services/",
          "^scenarios/",
          "^cli/",
          "^platform/",
          "^graph/host/",
          "^node_modules/(pg|kysely|fastify)/",
        ],
      },
    },
    {
      name: "graph-core-is-pure",
      comment:
        "The graph core runs inside workflows and in a bare vm context: no Temporal, no Node, nothing but itself and plain-JS libraries.",
      severity: "error",
      from: { path: "^graph/core/" },
      to: { pathNot: ["^graph/core/", "^node_modules/(@noble/hashes|canonicalize)/"] },
    },
    {
      name: "adapters-know-no-service",
      comment: "An adapter serves any process; one that knows a service or a story serves only that one.",
      severity: "error",
      from: { path: "^adapters/" },
      to: { path: ["^services/", "^scenarios/", "^cli/", "^workflows/[^/]+/workflow"] },
    },
    {
      name: "production-knows-nothing-of-the-lab",
      comment:
        "The worker under test must be the production worker. A hook for the lab in production code would mean that the lab tests another program.",
      severity: "error",
      from: { path: production },
      to: { path: "^(crash-lab|scenarios|test|workshop)/" },
    },
    {
      name: "lab-knows-no-scenario",
      comment: "The lab takes a definition; if it knew a scenario, nobody else could use it on theirs.",
      severity: "error",
      from: { path: "^crash-lab/" },
      to: { path: "^(scenarios|workflows|activities|services)/" },
    },
    {
      name: "world-is-outside",
      comment:
        "The outside systems stand for other companies' software: if they shared our code, a fault in it would be made twice and cancel out.",
      severity: "error",
      from: { path: "^services/world/" },
      to: { path: "^(workflows|activities|adapters|scenarios|graph|services/(worker|api|relay))/" },
    },
    {
      name: "nothing-imports-tests",
      comment: "Test code isn't shipped.",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
    {
      name: "no-cycles",
      comment: "Files that need each other are one file or hide a third.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-unresolvable",
      comment: "An import that can't be resolved isn't checked by any other rule.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".js", ".json"],
      mainFields: ["main", "types"],
    },
  },
};
