/** The bar that names the moment of the past that is shown, with a button back to the live task. */
import { GitFork, History } from 'lucide-react'
import { useSelector } from 'react-redux'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { Button } from '../../../ui/form/Button.tsx'
import { KeyCap } from '../../../ui/text/KeyCap.tsx'
import { clockTime, shortDate } from '../../../ui/text/times.ts'
import { zoneAt } from '../../../ui/text/dates.ts'
import { useTurnActions, type FinishedTurn } from '../fork/useTurnActions.tsx'
import { selectOpenTask } from '../taskSlice.ts'
import type { HistorySession, ReplayMoment } from '../history/historySession.ts'
import { texts } from '../history/texts.ts'
import { useHistory } from '../history/useHistory.ts'
import { nextFailure, previousFailure, useReplayKeys } from './useReplayKeys.ts'

interface ReplayBarProps {
  readonly session: HistorySession
  readonly replay: ReplayMoment
}

export function ReplayBar({ session, replay }: ReplayBarProps) {
  useReplayKeys(session)
  const fails = useHistory(session, (view) => view.markers.some(({ kind }) => kind === 'failure'))
  useAction('nextFailure', () => nextFailure(session), fails)
  useAction('previousFailure', () => previousFailure(session), fails)
  const at = new Date(replay.time).toISOString()
  const turn = useFinishedTurn(session)
  const { items, dialog } = useTurnActions(turn)
  const [fork] = items
  return (
    <section
      aria-label={texts.bar.label}
      data-replay-player=""
      className="flex min-h-10 flex-none items-center gap-3 border-b border-line bg-select py-1 pr-2 pl-4 text-ui"
    >
      <History className="flex-none text-accent" />
      <p className="min-w-0 flex-1">
        <b className="font-semibold">{texts.bar.name}</b>{' '}
        {texts.bar.says(`${clockTime(at)} ${zoneAt(at)}`, shortDate(at), turnWords(replay))}{' '}
        <span className="max-md:sr-only">{texts.bar.harmless}</span>
      </p>
      {fork && (
        <Button size="small" icon={<GitFork className="size-3.5" />} onClick={fork.onChoose}>
          <span className="max-md:sr-only">{texts.bar.fork}</span>
        </Button>
      )}
      {dialog}
      <Button kind="primary" size="small" aria-keyshortcuts="Escape" onClick={() => session.backToLive()}>
        {texts.bar.back}
        <span className="max-md:hidden" aria-hidden="true">
          <KeyCap>esc</KeyCap>
        </span>
      </Button>
    </section>
  )
}

/** The latest turn that was finished at the shown moment; a new task can be created from its end. */
function useFinishedTurn(session: HistorySession): FinishedTurn | null {
  const { task } = useSelector(selectOpenTask)
  const sections = useHistory(session, (view) => view.sections)
  const index = sections.findIndex(({ executionId }) => executionId === task?.execution?.id)
  const isOver = task?.execution?.endedAt !== null
  const turn = sections.slice(0, isOver ? index + 1 : index).findLast(({ kind }) => kind === 'turn')
  return turn && task ? { executionId: turn.executionId, agent: task.agent, isUndone: true } : null
}

export function turnWords({ turn }: Pick<ReplayMoment, 'turn'>): string {
  return turn === null ? texts.bar.beforeTurns : texts.bar.inTurn(turn)
}
