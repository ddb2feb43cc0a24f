/** `npm run graph:cases`: the case runner as a program of its own, since its arguments are for it alone. */
import { runGraphCases } from "./graph-cases.js";

process.exitCode = await runGraphCases(process.argv.slice(2));
