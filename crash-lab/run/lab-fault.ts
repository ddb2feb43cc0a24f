import { UserFacingError } from "../../platform/errors.js";

/** The lab can't do its work; says nothing about the code under test. Exit code 2. */
export class LabFault extends UserFacingError {}
