/**
 * A standby has loaded everything and must not take work. What would take work waits here until the standby is
 * activated, so the process needs no hook for it.
 */
export class StandbyGate {
  private release: (() => void) | undefined;
  private readonly opened: Promise<void>;
  private isActive: boolean;

  constructor(standby: boolean) {
    this.isActive = !standby;
    this.opened = standby ? new Promise((resolve) => (this.release = resolve)) : Promise.resolve();
  }

  get active(): boolean {
    return this.isActive;
  }

  /** Let everything through from now on. Calling it again changes nothing. */
  activate(): void {
    this.isActive = true;
    this.release?.();
  }

  whenActive(): Promise<void> {
    return this.opened;
  }
}
