/** One line about the task's record: when it was sealed, with which key, and what this server has checked. A dialog explains it. */
import { CircleDashed, Clock, CircleX, ShieldCheck, TriangleAlert, type LucideIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectLost } from '../../../live/connection.ts'
import { classes } from '../../../ui/classes.ts'
import { useNow } from '../../../ui/hooks.ts'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { dateAndTime } from '../../../ui/text/dates.ts'
import { useTaskRecordQuery, type TaskRecord, describeRecord, type RecordDescription } from './taskRecord.ts'
import { recordTexts as texts } from './recordTexts.ts'

interface RecordStateProps {
  readonly taskId: string
  /** The number of events that the page has read; the state is requested again when it grows. */
  readonly count: number
  readonly visible: boolean
  readonly onCheck: () => void
}

/** The interval between requests of the state while something is not sealed or checked yet, in ms. */
const pollIntervalMs = 5_000

const styles: Readonly<
  Record<RecordDescription['state'], { readonly icon: LucideIcon; readonly tone: string }>
> = {
  unknown: { icon: CircleDashed, tone: 'text-muted' },
  good: { icon: ShieldCheck, tone: 'text-ok' },
  waiting: { icon: Clock, tone: 'text-text' },
  off: { icon: TriangleAlert, tone: 'text-warn' },
  damaged: { icon: CircleX, tone: 'text-bad' },
}

export function RecordState({ taskId, count, visible, onCheck }: RecordStateProps) {
  const isLost = useSelector(selectLost)
  const [isWaiting, setWaiting] = useState(true)
  const [isRequested, setRequested] = useState(false)
  const { data, error, refetch, isUninitialized } = useTaskRecordQuery(taskId, {
    skip: !visible,
    pollingInterval: isWaiting && !isLost ? pollIntervalMs : 0,
    refetchOnMountOrArgChange: true,
  })
  useEffect(() => {
    if (!isUninitialized && count > 0) void refetch()
  }, [count, refetch, isUninitialized])
  const now = useNow(1_000, visible)
  const failure = isLost ? texts.offline : error === undefined ? null : texts.notFetched
  const { state, words } = describeRecord(data ?? null, failure, now)
  const waits = state === 'waiting' || state === 'unknown'
  if (waits !== isWaiting) setWaiting(waits)
  const { icon: Icon, tone } = styles[state]
  return (
    <>
      <div className="flex min-h-9 flex-none flex-wrap items-center gap-x-2 border-b border-line-soft px-3 text-meta text-muted md:px-4">
        <Icon className={classes('size-3.5 flex-none', tone)} />
        <p className="min-w-0 max-md:flex-1">
          {words.map((word, index) => (
            <span key={word}>
              {index > 0 && ' · '}
              <span className={classes(index === 0 && `font-medium ${tone}`)}>{word}</span>
            </span>
          ))}
        </p>
        {data !== undefined && (
          <button
            type="button"
            onClick={() => setRequested(true)}
            className="min-h-7 rounded-badge px-1 text-accent hover:underline max-md:min-h-11"
          >
            {texts.how}
          </button>
        )}
      </div>
      {data !== undefined && (
        <HowKnown record={data} open={isRequested} onClose={() => setRequested(false)} onCheck={onCheck} />
      )}
    </>
  )
}

interface HowKnownProps {
  readonly record: TaskRecord
  readonly open: boolean
  readonly onClose: () => void
  readonly onCheck: () => void
}

/** Explains who sealed the record, who has checked which part of it, and what this does not prove. */
function HowKnown({ record, open, onClose, onCheck }: HowKnownProps) {
  const { seal, checked, damage, events, isSealing, key } = record
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={texts.title}
      leave={texts.close}
      confirm={texts.check}
      onConfirm={() => {
        onClose()
        onCheck()
      }}
    >
      <dl className="mt-2 grid gap-3 [&_dt]:text-ui [&_dt]:font-semibold [&_dt]:text-text">
        <div>
          <dt>{texts.sealTitle}</dt>
          <dd>
            {seal !== null
              ? texts.sealSays(dateAndTime(seal.at), seal.events, events)
              : isSealing
                ? texts.noSeal
                : texts.noSealing}
          </dd>
        </div>
        <div>
          <dt>{texts.checkTitle}</dt>
          <dd>
            {damage === null
              ? texts.checkSays(dateAndTime(checked.at), checked.events)
              : texts.damageSays(damage.stream, damage.revision)}
          </dd>
        </div>
        {key !== null && (
          <div>
            <dt>{texts.keyTitle}</dt>
            <dd>
              <code className="mono block text-meta text-text">{key}</code>
              {texts.keySays}
            </dd>
          </div>
        )}
      </dl>
    </ConfirmDialog>
  )
}
