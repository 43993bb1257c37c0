/** A message of the person that waits, is being sent, or was refused. A waiting one can be discarded, a refused one also sent again. */
import { useSelector } from 'react-redux'
import { selectWaiting } from '../../../../live/outbox.ts'
import { useMeQuery } from '../../../auth/authApi.ts'
import { Button } from '../../../../ui/form/Button.tsx'
import { classes } from '../../../../ui/classes.ts'
import type { SentMessage } from '../../taskSlice.ts'
import { texts as taskTexts } from '../../texts.ts'
import { texts } from '../texts.ts'
import { CommandBody, MessageBody } from './MessageBody.tsx'
import { MessagePictures } from './MessagePictures.tsx'
import { PersonMark, personName } from './MessageOutsideTurn.tsx'

interface OutgoingMessageEntryProps {
  readonly sent: SentMessage
  readonly taskId: string
  readonly onResend: (id: string) => void
  readonly onDiscard: (id: string) => void
}

export function OutgoingMessageEntry({ sent, taskId, onResend, onDiscard }: OutgoingMessageEntryProps) {
  const { data } = useMeQuery()
  const waits = useSelector(selectWaiting).includes(sent.id)
  return (
    <article className="mt-3.5 px-4">
      <div className="mb-1 flex items-center gap-2 text-meta/5 text-muted">
        <PersonMark user={data?.user} />
        <b className="text-ui font-semibold text-text">{personName(data?.user)}</b>
        {sent.refused === null && <span>{waits ? texts.chat.waits : texts.chat.sending}</span>}
        {waits && (
          <Button size="small" kind="ghost" onClick={() => onDiscard(sent.id)}>
            {texts.chat.discard}
          </Button>
        )}
      </div>
      <div
        className={classes(
          'rounded-control bg-raised px-3 py-2 md:ml-7',
          sent.refused === null && 'text-muted',
        )}
      >
        {sent.text !== '' &&
          (sent.isCommand ? (
            <CommandBody text={sent.text} />
          ) : (
            <MessageBody text={sent.text} markdown={false} />
          ))}
        <MessagePictures taskId={taskId} messageId={sent.id} sent={sent.images} spaced={sent.text !== ''} />
      </div>
      {sent.refused !== null && (
        <div className="mt-1 flex flex-wrap items-center gap-2 text-meta text-bad md:ml-7">
          <p>
            {texts.chat.notSent} {sent.refused}
          </p>
          {/* Without enough room beside the text, both buttons are below it. */}
          <span className="flex gap-2">
            <Button size="small" onClick={() => onResend(sent.id)}>
              {taskTexts.tryAgain}
            </Button>
            <Button size="small" kind="ghost" onClick={() => onDiscard(sent.id)}>
              {texts.chat.discard}
            </Button>
          </span>
        </div>
      )}
    </article>
  )
}
