/** The commands among the lines of a terminal, each with its output lines. */

/** How a command line begins: with a dollar sign that is bold or, when the line is repeated, dim. */
const announced = ['\u001B[1m$ ', '\u001B[2m$ ']

/** A command with its output: the lines with ids from `id` to before `until`. */
export interface CommandBlock {
  readonly id: number
  readonly executionId: string
  /** When the command began, in the format of ISO 8601. */
  readonly at: string
  /** The id of the first line after the command's output; `null` while the command may still print. */
  readonly until: number | null
  /** When the command ended, in the format of ISO 8601; `null` while it is running, and when its end was not reported. */
  readonly endedAt: string | null
  /** The exit code of the command; `null` while the command is running, and when its outcome was not reported. */
  readonly exitCode: number | null
}

interface Written {
  readonly id: number
  readonly at: string
  readonly channel: 'stdout' | 'stderr'
  readonly executionId: string
  readonly text: string
}

export type CommandBlocks = ReturnType<typeof createCommandBlocks>

/** The end of a command whose command line is not loaded. */
export interface CutOffEnd extends Pick<CommandBlock, 'executionId' | 'endedAt' | 'exitCode'> {
  readonly until: number
}

/** The commands of a new terminal, or of one that continues with known commands. */
export function createCommandBlocks(
  known: readonly CommandBlock[] = [],
  knownCutOff: CutOffEnd | null = null,
) {
  const all: CommandBlock[] = [...known]
  let cutOff = knownCutOff
  return {
    /** All commands in order; always the same array. */
    all,
    /** Called when a line was written or continued. */
    wrote({ id, at, channel, executionId, text }: Written): void {
      const last = all.at(-1)
      if (announced.some((beginning) => text.startsWith(beginning))) {
        if (last?.id === id) return
        if (last?.until === null) all[all.length - 1] = { ...last, until: id }
        all.push({ id, executionId, at, until: null, endedAt: null, exitCode: null })
        return
      }
      if (last === undefined) return
      if (last.until === null) {
        if (last.executionId !== executionId) all[all.length - 1] = { ...last, until: id }
        return
      }
      // Standard error is transported separately, so its output may arrive after the end of the command that printed it.
      const late = last.until === id && last.endedAt !== null && channel === 'stderr'
      if (late && last.executionId === executionId) all[all.length - 1] = { ...last, until: id + 1 }
    },
    /** Called when the running command has ended. `nextId` is the id of the line after its output. */
    ended(executionId: string, nextId: number, at: string, exitCode: number | null): void {
      const last = all.at(-1)
      if (last === undefined) cutOff ??= { executionId, until: nextId, endedAt: at, exitCode }
      if (last === undefined || last.until !== null || last.executionId !== executionId) return
      all[all.length - 1] = { ...last, until: nextId, endedAt: at, exitCode }
    },
    dropBefore(id: number): void {
      const firstKept = all.findIndex((block) => block.id >= id)
      const removed = all.splice(0, firstKept === -1 ? all.length : firstKept)
      const last = removed.at(-1)
      if (last?.until !== undefined && last.until !== null) cutOff = { ...last, until: last.until }
    },
    /** The end of the command that printed the first lines, if the line that announces the command is not loaded; otherwise `null`. */
    cutOff: () => cutOff,
    /** Adds the commands of earlier lines. `lines` already includes those lines. */
    putBefore(
      earlier: readonly CommandBlock[],
      cutOffBefore: CutOffEnd | null,
      lines: readonly Written[],
    ): void {
      const last = earlier.at(-1)
      if (last !== undefined)
        all.unshift(
          ...earlier.slice(0, -1),
          last.until === null ? { ...last, ...endOf(last, all[0], lines) } : last,
        )
      cutOff = last === undefined ? (cutOffBefore ?? cutOff) : cutOffBefore
    },
  }

  /** How a command from newly loaded earlier lines ended, if its output continues in the lines that were already there. */
  function endOf(
    { executionId, id }: CommandBlock,
    next: CommandBlock | undefined,
    lines: readonly Written[],
  ): Partial<CommandBlock> {
    if (cutOff?.executionId === executionId) {
      const { until, endedAt, exitCode } = cutOff
      return { until, endedAt, exitCode }
    }
    const other = lines.find((line) => line.id > id && line.executionId !== executionId)
    const ends = [next?.id, other?.id].filter((end) => end !== undefined)
    return { until: ends.length === 0 ? null : Math.min(...ends) }
  }
}
