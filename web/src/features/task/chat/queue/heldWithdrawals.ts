/** Withdrawals that a person can still undo. Whatever can start a turn first sends them, because the turn would take the withdrawn messages. */

/** `send` sends the withdrawals of the open task, and resolves once they are answered. Set while the queue is shown. */
export const heldWithdrawals: { send?: (() => Promise<void> | undefined) | undefined } = {}
