/** An agent that runs, as those see it who give it turns. */
import type { Agent, AgentEvent } from '../agents/port.ts'
import type { Budget } from '../broker/budget.ts'
import type { SandboxExit } from '../sandbox/port.ts'

/** Who listens to a turn. */
export interface Hearing {
  /** What the turn may use of models. */
  readonly budget: Budget
  /** Something was printed. */
  alive(): void
  hear(event: AgentEvent): Promise<void>
  /** What was said on standard error. */
  complain(chunk: Buffer): Promise<void>
  /** The agent has told the end of its turn. */
  isOver(): boolean
}

export interface AgentProcess {
  readonly agent: Agent
  readonly version: string
  /** What it was given and must not show in anything that is recorded. */
  readonly secrets: readonly string[]
  /** Whether it went on with a session that was there before. */
  readonly resumed: boolean
  /** Gives a message, as the agent's `userMessage` words it, and hears its turn: `over` when the agent told its end, `gone` when the process ended before. */
  turn(message: string, hearing: Hearing): Promise<'over' | 'gone'>
  /** Gives another message to the turn that runs; false when it can take none. */
  steer(message: string): boolean
  /**
   * Tells it that no more messages come, and hears it to its end: a message that steered may have come too late for the turn that ended,
   * and is a turn of its own then.
   */
  finish(hearing: Hearing): Promise<void>
  /** Asks it to stop its turn. */
  interrupt(): void
  kill(): void
  /**
   * Ends all that its turns began, and has it stand still until its next turn: nothing of it changes a file meanwhile. False when that
   * cannot be had; it is ended then.
   */
  rest(): Promise<boolean>
  /** Lets one that stands still run on, a little before its turn: what it has to catch up with takes it some 25 ms. */
  wake(): void
  isAlive(): boolean
  readonly exited: Promise<SandboxExit>
  /** Lets it leave by itself and hears what it still says; ends it when it does not leave. Nothing of it is left then. */
  close(hearing?: Hearing): Promise<SandboxExit>
}
