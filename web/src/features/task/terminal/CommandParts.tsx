/** The parts of a command's row in the terminal: a button to collapse its output, and its outcome. */
import { ChevronRight } from 'lucide-react'
import { useSelector } from 'react-redux'
import { classes } from '../../../ui/classes.ts'
import { took } from '../../../ui/text/times.ts'
import { Status } from '../../../ui/status/Status.tsx'
import { RunningTime } from '../RunningTime.tsx'
import { selectOpenTask } from '../taskSlice.ts'
import type { CommandBlock } from './log/commandBlocks.ts'
import { texts } from './texts.ts'

interface FoldButtonProps {
  readonly folded: boolean
  /** The number of output lines; without any, nothing can be collapsed. */
  readonly lines: number
  readonly onToggle: () => void
}

export function FoldButton({ folded, lines, onToggle }: FoldButtonProps) {
  if (lines === 0) return <span className="w-6 flex-none" />
  return (
    <button
      type="button"
      aria-expanded={!folded}
      aria-label={texts.fold}
      onClick={onToggle}
      className="focus-inset grid h-7 w-6 flex-none place-items-center rounded-badge text-muted select-none hover:text-text"
    >
      <ChevronRight className={classes('size-3 transition-transform', !folded && 'rotate-90')} />
    </button>
  )
}

interface CommandResultProps {
  readonly command: CommandBlock
  readonly lines: number
  readonly running: boolean
}

export function CommandResult({ command, lines, running }: CommandResultProps) {
  const { at, endedAt, exitCode } = command
  const time = endedAt === null ? [] : [took(Date.parse(endedAt) - Date.parse(at))]
  const cancelled = useCancelledCommand(exitCode === null || exitCode === 0 ? null : command.executionId)
  const exit = cancelled
    ? [texts.cancelled]
    : exitCode === null || exitCode === 0
      ? []
      : [texts.exit(exitCode)]
  const goesOn = running && command.until === null
  return (
    // A long command fades out behind this element; scrolling the box shows the command's end.
    <span className="sticky right-0 flex flex-none items-center gap-2 bg-raised pr-4 pl-1 font-ui text-meta/7 text-muted select-none max-md:pl-7 before:absolute before:inset-y-0 before:right-full before:w-6 before:bg-linear-to-r before:from-transparent before:to-raised">
      {goesOn ? (
        <span className="text-run">
          {texts.running} <RunningTime since={at} />
        </span>
      ) : (
        [...(lines === 0 ? [] : [texts.lines(lines)]), ...time, ...exit].join(' · ')
      )}
      {goesOn && <Status status="running" iconOnly />}
      {endedAt !== null && exitCode !== null && (
        <Status status={cancelled ? 'cancelled' : exitCode === 0 ? 'completed' : 'failed'} iconOnly />
      )}
    </span>
  )
}

/** Whether a person cancelled this command: its exit code is then that of a killed process. */
function useCancelledCommand(executionId: string | null): boolean {
  return useSelector(
    (state: Parameters<typeof selectOpenTask>[0]) =>
      executionId !== null &&
      Object.values(selectOpenTask(state).chat.documents).some(
        (message) =>
          message.isCommand && message.executionId === executionId && message.status === 'cancelled',
      ),
  )
}
