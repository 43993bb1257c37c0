/** Moves through the history of a task as a video player does: a slider over its time, steps, and play. */
import {
  CircleQuestionMark,
  Link,
  Pause,
  Play,
  SkipBack,
  SkipForward,
  StepBack,
  StepForward,
} from 'lucide-react'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { clockTime } from '../../../ui/text/clock.ts'
import { useCopy } from '../useCopy.ts'
import { linkTo } from '../history/HistoryAddress.tsx'
import { speeds, type HistorySession, type ReplayMoment } from '../history/historySession.ts'
import { KeySheet } from './KeySheet.tsx'
import { texts } from '../history/texts.ts'
import { Track } from './Track.tsx'
import { nextEvent, nextTurn, playOrPause, previousEvent, previousTurn, showKeys } from './useReplayKeys.ts'

interface ScrubberProps {
  /** `null`: no address leads to this replay. */
  readonly taskId: string | null
  readonly session: HistorySession
  readonly replay: ReplayMoment
}

export function Scrubber({ taskId, session, replay }: ScrubberProps) {
  const copy = useCopy()
  const { moment, index, time } = replay
  return (
    <footer
      aria-label={texts.scrubber.controls}
      data-replay-player=""
      className="grid h-18 flex-none grid-cols-[auto_minmax(0,1fr)] items-center gap-3 border-t border-line bg-panel px-2 md:h-24 md:grid-cols-[auto_minmax(0,1fr)_auto] md:gap-6 md:px-4"
    >
      <Buttons session={session} replay={replay} />
      <Track session={session} replay={replay} />
      <div className="flex items-center gap-2 max-md:hidden">
        <div className="text-right text-meta/4.5">
          <div className="mono font-medium text-text">{clockTime(new Date(time).toISOString())}</div>
          <div className="whitespace-nowrap text-muted">
            {texts.scrubber.place(index + 1, session.read().count)}
          </div>
        </div>
        {taskId !== null && (
          <IconButton
            icon={Link}
            label={texts.scrubber.copyLink}
            onClick={() => copy(linkTo(taskId, moment), texts.scrubber.link)}
          />
        )}
        <IconButton
          icon={CircleQuestionMark}
          label={texts.scrubber.keys}
          shortcut="?"
          onClick={() => window.dispatchEvent(new Event(showKeys))}
        />
      </div>
      <KeySheet />
    </footer>
  )
}

function Buttons({ session, replay }: Pick<ScrubberProps, 'session' | 'replay'>) {
  const { scrubber } = texts
  return (
    <div className="flex items-center gap-0.5">
      <IconButton icon={SkipBack} label={scrubber.previousTurn} onClick={() => previousTurn(session)} />
      <span className="max-md:hidden">
        <IconButton
          icon={StepBack}
          label={scrubber.previousEvent}
          shortcut=","
          onClick={() => previousEvent(session)}
        />
      </span>
      <IconButton
        icon={replay.playing ? Pause : Play}
        kind="plain"
        label={replay.playing ? scrubber.pause : scrubber.play}
        shortcut="Space"
        onClick={() => playOrPause(session)}
      />
      <span className="max-md:hidden">
        <IconButton
          icon={StepForward}
          label={scrubber.nextEvent}
          shortcut="."
          onClick={() => nextEvent(session)}
        />
      </span>
      <IconButton icon={SkipForward} label={scrubber.nextTurn} onClick={() => nextTurn(session)} />
      <select
        aria-label={scrubber.speed}
        value={replay.speed}
        onChange={({ currentTarget }) => session.setSpeed(Number(currentTarget.value))}
        className="ml-1.5 h-8 rounded-control border border-line bg-panel px-1.5 text-ui font-medium hover:bg-raised max-md:hidden"
      >
        {speeds.map((speed) => (
          <option key={speed} value={speed}>
            {scrubber.times(speed)}
          </option>
        ))}
      </select>
    </div>
  )
}
