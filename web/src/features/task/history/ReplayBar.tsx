/** Says that what is shown is past, and when; the way back to what is live. */
import { History } from 'lucide-react'
import { Button } from '../../../ui/form/Button.tsx'
import { KeyCap } from '../../../ui/text/KeyCap.tsx'
import { clockTime } from '../../../ui/text/clock.ts'
import type { HistorySession, ReplayMoment } from './historySession.ts'
import { texts } from './texts.ts'
import { useReplayKeys } from './useReplayKeys.ts'

interface ReplayBarProps {
  readonly session: HistorySession
  readonly replay: ReplayMoment
}

export function ReplayBar({ session, replay }: ReplayBarProps) {
  useReplayKeys(session)
  const time = clockTime(new Date(replay.time).toISOString())
  return (
    <section
      aria-label={texts.bar.label}
      data-replay-player=""
      className="flex min-h-10 flex-none items-center gap-3 border-b border-line bg-select py-1 pr-2 pl-4 text-ui"
    >
      <History className="flex-none text-accent" />
      <p className="min-w-0 flex-1">
        <b className="font-semibold">{texts.bar.name}</b> {texts.bar.says(time, turnWords(replay))}{' '}
        <span className="max-md:sr-only">{texts.bar.harmless}</span>
      </p>
      <Button kind="primary" size="small" aria-keyshortcuts="Escape" onClick={() => session.backToLive()}>
        {texts.bar.back}
        <span className="max-md:hidden" aria-hidden="true">
          <KeyCap>esc</KeyCap>
        </span>
      </Button>
    </section>
  )
}

/** Which turn it was in. */
export function turnWords({ turn }: Pick<ReplayMoment, 'turn'>): string {
  return turn === null ? texts.bar.beforeTurns : texts.bar.inTurn(turn)
}
