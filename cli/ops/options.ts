/** The flags of `ops answer`, checked before anything is opened. */
import { UserFacingError } from "../../platform/index.js";
import type { RecoveryAnswer } from "../../adapters/ledger/recovery/answer-recovery.js";

export interface AnswerFlags {
  readonly adopt?: string;
  readonly absent?: boolean;
  readonly redrive?: boolean;
  readonly by?: string;
  readonly id?: string;
}

const charactersMax = 200;

/** @throws UserFacingError naming the flag, what it is and what is allowed */
export function answerFrom(flags: AnswerFlags): Omit<RecoveryAnswer, "recoveryId"> {
  const given = [
    flags.adopt === undefined ? [] : ["adopt" as const],
    flags.absent === true ? ["absent" as const] : [],
    flags.redrive === true ? ["redrive" as const] : [],
  ].flat();
  const [answer] = given;
  if (answer === undefined || given.length > 1) {
    const what = given.length === 0 ? "none" : given.map((each) => `--${each}`).join(" and ");
    throw new UserFacingError(`An answer is one of --adopt REF, --absent and --redrive; it is ${what}.`);
  }
  return {
    answer,
    by: text("--by", flags.by, "who answers"),
    answerId: text("--id", flags.id, "an id of your own for this answer"),
    ...(flags.adopt === undefined ? {} : { reference: text("--adopt", flags.adopt, "a reference", 10_000) }),
  };
}

function text(flag: string, value: string | undefined, what: string, most = charactersMax): string {
  const allowed = `must be ${what}, 1 to ${most} characters`;
  if (value === undefined) throw new UserFacingError(`${flag} is missing; it ${allowed}.`);
  // The database can't hold this character, and a name of blanks names nobody.
  if (value.trim() === "" || value.length > most || value.includes("\u0000")) {
    throw new UserFacingError(`${flag} ${allowed}; it is ${JSON.stringify(value.slice(0, 80))}.`);
  }
  return value;
}
