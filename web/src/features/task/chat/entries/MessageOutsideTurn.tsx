/** A message outside of turns: in a box if a person wrote it, without a box if the system did. */
import { Bot } from 'lucide-react'
import type { User } from '#domain/api/auth.schema.ts'
import { endIn, type MessageDocument } from '#domain/views/chat.ts'
import { Avatar } from '../../../../ui/text/Avatar.tsx'
import { classes } from '../../../../ui/classes.ts'
import { Status } from '../../../../ui/status/Status.tsx'
import { useMeQuery } from '../../../auth/authApi.ts'
import { isPersons, type MessageEntry } from '../chatTimeline.ts'
import { CommandBody, MessageBody } from './MessageBody.tsx'
import { MessagePictures } from './MessagePictures.tsx'
import { MessageHead, MessageMenu } from './MessageHead.tsx'
import { texts } from '../texts.ts'

interface MessageOutsideTurnProps {
  readonly entry: MessageEntry
  readonly taskId: string
  readonly isUndone?: boolean
}

export function MessageOutsideTurn({
  entry: { message, grouped },
  taskId,
  isUndone = false,
}: MessageOutsideTurnProps) {
  const { data } = useMeQuery()
  const persons = isPersons(message)
  return (
    <article
      className={classes(
        'group/message relative px-4',
        grouped ? 'mt-1.5' : 'mt-3.5',
        isUndone && 'border-l-2 border-line',
      )}
    >
      {!grouped && (
        <MessageHead
          mark={persons ? <PersonMark user={data?.user} /> : systemMark}
          name={persons ? personName(data?.user) : texts.chat.system}
          at={message.createdAt}
          // The status of a command is shown next to its text.
          status={message.isCommand ? null : message.messageType === 'error' ? 'failed' : message.status}
          taskId={taskId}
          edited={message.isEdited}
          text={message.message ?? ''}
        />
      )}
      {grouped && (
        <span className="absolute top-1 right-5">
          <MessageMenu taskId={taskId} text={message.message ?? ''} over />
        </span>
      )}
      <div className={persons ? 'rounded-control bg-raised px-3 py-2 md:ml-7' : 'md:pl-7'}>
        {message.message !== '' && <Words message={message} />}
        <MessagePictures taskId={taskId} messageId={message.messageId} spaced={message.message !== ''} />
      </div>
    </article>
  )
}

function Words({ message }: { readonly message: MessageDocument }) {
  if (message.message === null) return <p className="text-muted">{texts.chat.erased}</p>
  if (message.isCommand) {
    return (
      // Without enough room beside the text, the status moves below it.
      <div className="flex flex-wrap items-start justify-between gap-x-4">
        <div className="min-w-0 flex-auto">
          <CommandBody text={message.commandText ?? message.message} />
        </div>
        <span className="flex max-w-full flex-none gap-2 text-meta/5 text-muted">
          <span className="flex h-5 flex-none items-center">
            <Status status={message.commandStatus} small />
          </span>
          {/* The output of the command is in the terminal; a failed command also shows here how it ended. */}
          {message.commandStatus === 'failed' && message.response !== null && endIn(message.response)}
        </span>
      </div>
    )
  }
  return <MessageBody text={message.message} markdown={!isPersons(message)} />
}

export function PersonMark({ user }: { readonly user: User | undefined }) {
  return <Avatar name={personName(user)} src={user?.avatar} size={20} />
}

export function personName(user: User | undefined): string {
  return user?.fullName || user?.name || texts.chat.you
}

const systemMark = (
  <span className="inline-grid size-5 place-items-center text-muted">
    <Bot className="size-3.5" />
  </span>
)
