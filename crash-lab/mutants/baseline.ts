/**
 * What each mutant is expected to be caught by, written down before it is run. A mutant is the scenario with one
 * protection taken out; a lab that doesn't see the difference would not see it in the real code either.
 */
import { z } from "zod";
import { passes, verdictNames, type Verdict } from "../judge/verdicts.js";
import { parseJson } from "../parse-json.js";
import { verbNames, type Verb } from "../verbs/verb.js";
import { parseWindowName } from "../windows/window-name.js";

const predicted = z.strictObject({
  /** Of the mutant's own manifest, which differs from the scenario's where the protection made messages. */
  window: z.string().superRefine((value, context) => {
    try {
      parseWindowName(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
    }
  }),
  verb: z.enum(verbNames as [Verb, ...Verb[]]).default("kill"),
  verdict: z
    .enum(verdictNames as [Verdict, ...Verdict[]])
    .refine((verdict) => !passes(verdict) && verdict !== "harness", {
      error: "a mutant is caught by a bad verdict, and the lab's own fault proves nothing",
    }),
});

const entry = z.strictObject({
  name: z.string().regex(/^[a-z]+(-[a-z]+)*$/, "must be words in lower case, joined by -"),
  /** Two sentences: the danger, and what recovery must do. */
  why: z.string().min(1),
  predicted: z.array(predicted).min(1),
});

const baseline = z.array(entry).superRefine((entries, context) => {
  const names = entries.map(({ name }) => name);
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at)
      context.addIssue({ code: "custom", path: [at, "name"], message: `"${name}" stands twice` });
});

export type MutantPrediction = z.infer<typeof entry>;

/**
 * Reads a baseline.
 *
 * @throws Error naming the file, the field, and what is allowed.
 */
export function parseBaseline(text: string, file: string): readonly MutantPrediction[] {
  return parseJson(baseline, text, file);
}
