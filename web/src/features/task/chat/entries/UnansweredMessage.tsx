/** Messages that the chat does not contain: a message that is being sent or was refused, and a message that was just withdrawn. */
import { useSelector } from 'react-redux'
import { selectWaiting } from '../../../../live/outbox.ts'
import { useMeQuery } from '../../../auth/authApi.ts'
import { Button } from '../../../../ui/form/Button.tsx'
import { classes } from '../../../../ui/classes.ts'
import type { SentMessage } from '../../taskSlice.ts'
import { texts as taskTexts } from '../../texts.ts'
import { texts } from '../texts.ts'
import { useCountdown } from '../../../../ui/overlay/useCountdown.ts'
import { selectPicturesOf } from '../picturesSlice.ts'
import type { WaitingMessage } from '../queue/queueChanges.ts'
import { CommandBody, MessageBody } from './MessageBody.tsx'
import { MessagePictures } from './MessagePictures.tsx'
import { PersonMark, personName } from './PersonMessage.tsx'

interface SentMessageEntryProps {
  readonly sent: SentMessage
  readonly taskId: string
  readonly onResend: (id: string) => void
  readonly onDiscard: (id: string) => void
}

export function SentMessageEntry({ sent, taskId, onResend, onDiscard }: SentMessageEntryProps) {
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

/** A withdrawn message, as `WithdrawnMessage` shows it while the withdrawal can be undone. */
export interface Withdrawn {
  readonly message: WaitingMessage
  readonly place: number
  /** Shows the message again, if it is only hidden on this page and the server was not told of the withdrawal; otherwise `null`. */
  readonly show: (() => void) | null
}

interface WithdrawnMessageProps {
  readonly withdrawn: Withdrawn
  readonly onUndo: () => void
  readonly onOver: () => void
}

/** How long the withdrawal can be undone, in milliseconds: as long as other notifications are shown (contract, section 9). */
const undoTimeoutMs = 5_000

export function WithdrawnMessage({ withdrawn: { message, show }, onUndo, onOver }: WithdrawnMessageProps) {
  const clock = useCountdown(undoTimeoutMs, onOver)
  const hasImages = useSelector(selectPicturesOf(message.messageId)).length > 0
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- pointing at it only stops its clock
    <li
      {...clock}
      className="flex h-11 items-center gap-2 border-t border-line-soft pr-1.5 pl-3 text-ui text-muted first:border-t-0 md:h-8"
    >
      <span className="flex-none">{texts.queue.withdrawn}</span>
      <s className="min-w-0 flex-1 truncate">{message.message}</s>
      <Button size="small" kind="ghost" onClick={onUndo} className="max-md:h-11!">
        {show === null && hasImages ? texts.queue.undoWords : texts.queue.undo}
      </Button>
    </li>
  )
}
