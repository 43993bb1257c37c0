/** The person's sessions, with buttons to end one or all. */
import { useState } from 'react'
import { useDispatch, useStore } from 'react-redux'
import type { Session } from '#domain/api/auth.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken } from '../../api/tokenStore.ts'
import { age } from '../../ui/text/times.ts'
import { Button } from '../../ui/form/Button.tsx'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { useNow } from '../../ui/hooks.ts'
import type { WithDeletions } from '../deletions/deletions.ts'
import { sendDeletions } from '../deletions/sendDeletions.ts'
import { notifiedFailure } from '../notifications/notifications.ts'
import { sessionTexts as texts } from './texts.ts'
import { useEndSessionMutation, useEndSessionsMutation, useSessionsQuery } from './settingsApi.ts'

export function SessionsPart() {
  const { data, isFetching, refetch } = useSessionsQuery()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <section className="mt-8">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 className="font-semibold">{texts.heading}</h2>
        {data !== undefined && (
          <Button size="touch" onClick={() => setConfirming(true)}>
            {texts.everywhere}
          </Button>
        )}
      </div>
      <Panel label={texts.heading} className="divide-y divide-line-soft">
        {data?.sessions.map((session) => (
          <Row key={session.id} session={session} />
        ))}
        {data === undefined && (
          <div className="p-5">
            <Note
              kind="error"
              action={
                <Button busy={isFetching} onClick={() => void refetch()}>
                  {texts.again}
                </Button>
              }
            >
              {texts.notFetched}
            </Note>
          </div>
        )}
      </Panel>
      <Question count={data?.sessions.length ?? 0} open={isConfirming} onClose={() => setConfirming(false)} />
    </section>
  )
}

const minuteMs = 60_000

function Row({ session: { id, client, startedAt, current } }: { readonly session: Session }) {
  const dispatch = useDispatch()
  const now = useNow(minuteMs)
  const [end, { isLoading }] = useEndSessionMutation()
  const name = client ?? texts.unknown
  const onEnd = async () => {
    const answer = await end(id)
    if (answer.error !== undefined) dispatch(notifiedFailure(texts.notEnded, answer.error))
  }
  return (
    <div className="flex items-center gap-3 px-5 py-3.5">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="text-ui text-muted">
          {current ? `${texts.current} · ` : ''}
          {texts.started(age(startedAt, now))}
        </p>
      </div>
      {!current && (
        <Button
          size="touch"
          className="shrink-0"
          busy={isLoading}
          aria-label={texts.endOf(name)}
          onClick={() => void onEnd()}
        >
          {texts.end}
        </Button>
      )}
    </div>
  )
}

interface QuestionProps {
  readonly count: number
  readonly open: boolean
  readonly onClose: () => void
}

function Question({ count, open, onClose }: QuestionProps) {
  const dispatch = useDispatch()
  const store = useStore<WithDeletions>()
  const [endAll, { isLoading, error, reset }] = useEndSessionsMutation()
  const onEnd = async () => {
    // Deletions are sent first, while there is still a token.
    sendDeletions(store)
    const answer = await endAll()
    if (answer.error !== undefined) return
    dropToken()
    dispatch(sessionEnded('logout'))
  }
  return (
    <ConfirmDialog
      open={open}
      onClose={() => {
        reset()
        onClose()
      }}
      title={texts.title}
      leave={texts.cancel}
      confirm={texts.everywhere}
      isDangerous
      busy={isLoading}
      busyLabel={texts.ending}
      error={error && reasonOf(error, texts.notEnded)}
      onConfirm={() => void onEnd()}
    >
      {texts.lead(count)}
    </ConfirmDialog>
  )
}
