/**
 * The closed vocabulary of verdicts. Every case starts as `harness`, so a case that nobody judged can never count
 * as passed: a verdict must be set, and a judge that forgets one leaves the lab's own fault standing.
 */
export interface VerdictMeaning {
  /** May a run of the lab be green with this verdict? */
  readonly passes: boolean;
  /** When it is given. */
  readonly when: string;
  /** What to do about it. */
  readonly whatToDo: string;
}

export const verdicts = {
  once: {
    passes: true,
    when: "The outside world holds exactly the effects of an undisturbed run, with the same content.",
    whatToDo: "Nothing.",
  },
  parked: {
    passes: true,
    when: "The truth can't be known by asking, and the run waits in a declared state with its recovery row.",
    whatToDo: "A person answers; the window is declared in the scenario, so this is no surprise.",
  },
  "not-admitted": {
    passes: true,
    when: "No effect exists, and no caller was told that there would be one.",
    whatToDo: "The caller repeats its request.",
  },
  duplicated: {
    passes: false,
    when: "An effect with the same content exists more often than in an undisturbed run.",
    whatToDo: "Look at the key: it changes between attempts, or the outside system doesn't honour it.",
  },
  diverged: {
    passes: false,
    when: "Effects for one subject carry different content, or the one effect carries the wrong one.",
    whatToDo: "Look at what the effect is bound to: it was computed twice instead of being stored once.",
  },
  lost: {
    passes: false,
    when: "An effect of the undisturbed run is missing, although the run ended or a caller was told that it would come.",
    whatToDo:
      "Look at what was recorded before the effect, and at what took an unknown outcome for a failure.",
  },
  violated: {
    passes: false,
    when: "Another invariant of the scenario doesn't hold.",
    whatToDo: "The invariant's name and detail stand beside the verdict.",
  },
  stuck: {
    passes: false,
    when: "The run neither ended nor reached a declared parked state before the deadline.",
    whatToDo: "Look at the dump: history, pending activities, journals and ledger.",
  },
  nondeterministic: {
    passes: false,
    when: "Replaying the run's history with the same workflow code failed.",
    whatToDo: "Look for a clock, randomness, I/O or shared state in workflow code.",
  },
  unexpected: {
    passes: false,
    when: "A declared expectation for this window was missed.",
    whatToDo: "Either the behaviour or the declaration is wrong; both stand in the report.",
  },
  vacuous: {
    passes: false,
    when: "The fault didn't fire, so nothing was tested.",
    whatToDo: "Look at the victim: the process that was killed doesn't own the connections.",
  },
  unreached: {
    passes: false,
    when: "The run never came to this window.",
    whatToDo: "The path differs from the golden run; make the story's race or choice explicit.",
  },
  harness: {
    passes: false,
    when: "The lab itself failed, or nobody judged the case.",
    whatToDo: "A fault of the lab, not of the code under test; the detail says where.",
  },
} as const satisfies Record<string, VerdictMeaning>;

export type Verdict = keyof typeof verdicts;

export const verdictNames = Object.keys(verdicts) as readonly Verdict[];

/** Does this verdict let the lab be green? */
export const passes = (verdict: Verdict): boolean => verdicts[verdict].passes;

/** 0 all fine; 1 a bad verdict; 2 the lab's own fault, which says nothing about the code and outranks the rest. */
export function exitCodeOf(found: Iterable<Verdict>): 0 | 1 | 2 {
  let code: 0 | 1 | 2 = 2;
  for (const verdict of found) {
    if (verdict === "harness") return 2;
    if (code === 2) code = 0;
    if (!passes(verdict)) code = 1;
  }
  return code;
}
