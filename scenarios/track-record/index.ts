/** Cases from practice that are kept under test. */
import type { PublicCase } from "./case.js";
import { lateAccounting } from "./late-accounting.js";
import { oneDecision } from "./one-decision.js";

export const publicCases: readonly PublicCase[] = [lateAccounting, oneDecision];
