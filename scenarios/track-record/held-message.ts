/** Holds one message of a process in its tap until that process is dead. */
import {
  forward,
  type BoundaryEvent,
  type Decision,
  type TapController,
} from "../../crash-lab/taps/event.js";

export class HeldMessage implements TapController {
  /** Resolves when the message is in the tap. */
  readonly arrived: Promise<void>;
  #arrive!: () => void;
  readonly #until: Promise<Decision>;
  #decide!: (decision: Decision) => void;
  #armed = false;
  #holding = false;

  /** @param wanted says of an event whether it is the one; only asked when armed */
  constructor(private readonly wanted: (event: BoundaryEvent) => boolean) {
    this.arrived = new Promise((resolve) => (this.#arrive = resolve));
    this.#until = new Promise((resolve) => (this.#decide = resolve));
  }

  /** From now on the first wanted message is held. */
  arm(): void {
    this.#armed = true;
  }

  /** What was held is gone with the process. */
  drop(): void {
    this.#decide({ do: "drop" });
  }

  decide(event: BoundaryEvent): Decision {
    if (!this.#armed || this.#holding || !this.wanted(event)) return forward;
    this.#holding = true;
    this.#arrive();
    return { do: "hold", until: this.#until };
  }
}

/** The report of a workflow task of this workflow: nothing of what the task decided has taken effect yet. */
export function reportOfTask(workflowId: string): HeldMessage {
  return new HeldMessage(
    ({ side, details }) =>
      side === "before" &&
      details.kind === "temporal" &&
      details.call === "RespondWorkflowTaskCompleted" &&
      details.task?.workflowId === workflowId,
  );
}

/** The answer to a request of this run: the other side has done it, and the process doesn't know. */
export function answerTo(token: string): HeldMessage {
  return new HeldMessage(
    ({ side, access, runTokens }) => side === "after" && access === "write" && runTokens.includes(token),
  );
}
