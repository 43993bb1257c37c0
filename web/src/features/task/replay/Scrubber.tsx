/** The controls of a replay, as in a video player: a slider over time, step buttons, and play. */
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
import { useEffect, useState } from 'react'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { clockTime } from '../../../ui/text/times.ts'
import { dateAndTime } from '../../../ui/text/dates.ts'
import { useCopy } from '../useCopy.ts'
import { linkTo } from '../history/HistoryAddress.tsx'
import { speeds, type HistorySession, type ReplayMoment } from '../history/historySession.ts'
import { texts } from '../history/texts.ts'
import { Track } from './Track.tsx'
import { nextEvent, nextTurn, playOrPause, previousEvent, previousTurn, showKeys } from './useReplayKeys.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Dialog } from '../../../ui/overlay/Dialog.tsx'
import { useReplayed } from '../replayContext.ts'

interface ScrubberProps {
  /** The id of the task, for links to a moment; `null` when the replay has no address. */
  readonly taskId: string | null
  readonly session: HistorySession
  readonly replay: ReplayMoment
}

export function Scrubber({ taskId, session, replay }: ScrubberProps) {
  const copy = useCopy()
  const { moment, index } = replay
  const at = new Date(replay.time).toISOString()
  return (
    <footer
      aria-label={texts.scrubber.controls}
      data-replay-player=""
      className="grid flex-none grid-cols-[minmax(0,1fr)_auto] items-center border-t border-line bg-panel px-2 pt-1.5 max-md:gap-y-1 max-md:pb-1.5 md:h-24 md:grid-cols-[auto_minmax(0,1fr)_auto_auto] md:gap-x-6 md:px-4 md:pt-0"
    >
      <Buttons session={session} replay={replay} />
      <Track session={session} replay={replay} />
      {/* On a phone, the clock is above the slider, and the buttons are below it. */}
      <div className="flex justify-between text-meta/4.5 max-md:col-span-2 max-md:row-start-1 max-md:px-1 md:block md:text-right">
        <time dateTime={at} title={dateAndTime(at)} className="mono block font-medium text-text">
          {clockTime(at)}
        </time>
        <div className="whitespace-nowrap text-muted">
          {texts.scrubber.place(index + 1, session.read().count)}
        </div>
      </div>
      <div className="flex items-center max-md:row-start-3 md:-ml-4">
        {taskId !== null && (
          <IconButton
            icon={Link}
            label={texts.scrubber.copyLink}
            onClick={() => copy(linkTo(taskId, moment), texts.scrubber.link)}
          />
        )}
        <span className="max-md:hidden">
          <IconButton
            icon={CircleQuestionMark}
            label={texts.scrubber.keys}
            shortcut="?"
            onClick={() => window.dispatchEvent(new Event(showKeys))}
          />
        </span>
      </div>
      <KeySheet />
    </footer>
  )
}

function Buttons({ session, replay }: Pick<ScrubberProps, 'session' | 'replay'>) {
  const { scrubber } = texts
  return (
    <div className="flex items-center max-md:row-start-3 md:gap-0.5">
      <IconButton icon={SkipBack} label={scrubber.previousTurn} onClick={() => previousTurn(session)} />
      <IconButton
        icon={StepBack}
        label={scrubber.previousEvent}
        shortcut=","
        onClick={() => previousEvent(session)}
      />
      <IconButton
        icon={replay.playing ? Pause : Play}
        kind="plain"
        label={replay.playing ? scrubber.pause : scrubber.play}
        shortcut="Space"
        onClick={() => playOrPause(session)}
      />
      <IconButton
        icon={StepForward}
        label={scrubber.nextEvent}
        shortcut="."
        onClick={() => nextEvent(session)}
      />
      <IconButton icon={SkipForward} label={scrubber.nextTurn} onClick={() => nextTurn(session)} />
      <select
        aria-label={scrubber.speed}
        value={replay.speed}
        onChange={({ currentTarget }) => session.setSpeed(Number(currentTarget.value))}
        className="ml-1.5 h-11 rounded-control border border-line bg-panel px-1.5 text-ui font-medium hover:bg-raised md:h-8"
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

/** The list of the replay's keys. */
function KeySheet() {
  const isSaved = useReplayed()?.isSaved
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onShowKeys = () => setOpen(true)
    window.addEventListener(showKeys, onShowKeys)
    return () => window.removeEventListener(showKeys, onShowKeys)
  }, [])
  const close = () => setOpen(false)
  return (
    <Dialog
      open={open}
      onClose={close}
      title={texts.keysTitle}
      actions={
        <Button data-safe onClick={close}>
          {texts.close}
        </Button>
      }
    >
      <span className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 pt-2">
        {(isSaved ? texts.keys : [...texts.keys, texts.keyToLive]).map(([keys, says]) => (
          <span key={keys} className="contents">
            <kbd className="mono text-text">{keys}</kbd>
            <span>{says}</span>
          </span>
        ))}
      </span>
    </Dialog>
  )
}
