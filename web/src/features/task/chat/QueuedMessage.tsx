/** A message that waits for its turn, and the ways to take it back and to tell it to the turn that runs. */
import { CornerRightUp, X } from 'lucide-react'
import { useDispatch } from 'react-redux'
import type { MessageDocument } from '#domain/views/chat.ts'
import { reasonOf } from '../../../api/fault.ts'
import { classes } from '../../../ui/classes.ts'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Status } from '../../../ui/Status.tsx'
import { notified } from '../../notifications/notifications.ts'
import { useSteerMessageMutation, useWithdrawMessageMutation } from '../taskApi.ts'
import { texts as taskTexts } from '../texts.ts'
import { texts } from './texts.ts'

interface QueuedMessageProps {
  readonly taskId: string
  readonly message: MessageDocument
  /** Whether a turn runs that could be told it. */
  readonly maySteer: boolean
}

export function QueuedMessage({ taskId, message, maySteer }: QueuedMessageProps) {
  const dispatch = useDispatch()
  const [withdraw, { isLoading }] = useWithdrawMessageMutation()
  const [steer, { isLoading: isSteering }] = useSteerMessageMutation()
  const onSteer = async () => {
    const answer = await steer({ taskId, messageId: message.messageId })
    if (answer.error === undefined) return
    const reason = reasonOf(answer.error, taskTexts.toasts.notSteered)
    dispatch(notified('error', taskTexts.toasts.notSteered, reason))
  }
  const onWithdraw = async () => {
    const answer = await withdraw({ taskId, messageId: message.messageId })
    if (answer.error === undefined) return
    const reason = reasonOf(answer.error, taskTexts.toasts.notWithdrawn)
    dispatch(notified('error', taskTexts.toasts.notWithdrawn, reason))
  }
  return (
    <li className="flex h-10 items-center gap-2 border-t border-line-soft pr-1.5 pl-3 text-ui first:border-t-0 md:h-8">
      <Status status="queued" iconOnly />
      <span
        className={classes('min-w-0 flex-1 truncate', message.isCommand && 'font-mono text-code')}
        title={message.message ?? undefined}
      >
        {message.isCommand && '$ '}
        {message.message ?? texts.chat.erased}
      </span>
      {maySteer && !message.isCommand && (
        <IconButton
          icon={CornerRightUp}
          label={texts.composer.steer}
          size="row"
          busy={isSteering}
          onClick={() => void onSteer()}
        />
      )}
      <IconButton
        icon={X}
        label={texts.composer.withdraw}
        size="row"
        busy={isLoading}
        onClick={() => void onWithdraw()}
      />
    </li>
  )
}
