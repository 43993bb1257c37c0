/** The input for the next message, with voice and images. Typing here renders no other part of the page. */
import { limits } from '#domain/api/limits.ts'
import { ArrowUp, Paperclip, Square, Terminal } from 'lucide-react'
import { memo, useEffect, useState, type KeyboardEvent, type ReactNode, type RefObject } from 'react'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { classes } from '../../../../ui/classes.ts'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { tooLong } from '../../../../ui/form/lengthLimit.ts'
import { TextArea } from '../../../../ui/form/TextArea.tsx'
import { useMedia } from '../../../../ui/hooks.ts'
import { chatDrafts } from '../../../../state/persisted.ts'
import { useDraft } from '../../../../state/useDraft.ts'
import { useSuggestions } from '../../../agents/useSuggestions.tsx'
import { AttachButton } from '../../../images/AttachButton.tsx'
import { PendingTray } from '../../../images/PendingTray.tsx'
import { completedOf } from '../../../images/pendingImages.ts'
import { texts as imageTexts } from '../../../images/texts.ts'
import { type PendingImages, useWhenUploaded } from '../../../images/usePendingImages.ts'
import { appendWords, useVoice } from '../../../voice/useVoice.ts'
import { VoiceButton } from '../../../voice/VoiceButton.tsx'
import { texts } from '../texts.ts'
import { usageText } from './usageText.ts'
import { isComposingKey } from '../../../../ui/isComposingKey.ts'

export type SendFromBox = (text: string, isCommand: boolean, images: readonly ShownImage[]) => void

interface MessageBoxProps {
  readonly box: RefObject<HTMLTextAreaElement | null>
  readonly taskId: string
  readonly agent: Task['agent']
  /** The picker of the agent for the next message, if it is shown here. */
  readonly agentChoice: ReactNode
  /** The pickers of the model, the effort and the mode for the next turn. */
  readonly model: ReactNode
  readonly usage: Task['usage']
  readonly isCommand: boolean
  readonly onCommand: (isCommand: boolean) => void
  readonly pending: PendingImages
  readonly mayStop: boolean
  readonly onStop: () => void
  readonly onSend: SendFromBox
}

/** The height above which the box scrolls, in pixels (contract, section 9). */
const maxHeightPx = 120

export const MessageBox = memo(function MessageBox(props: MessageBoxProps) {
  const { box, taskId, agent, isCommand, onCommand, pending, onStop } = props
  const [text, setText, textNow] = useDraft(chatDrafts, taskId)
  const [focused, setFocused] = useState(false)
  const wide = useMedia('(width >= 768px)')
  const place = { taskId }
  const slash = useSuggestions({ agent, place, text, onWrite: setText, begins: false, off: isCommand })
  const voice = useVoice((words) => setText((before) => appendWords(before, words)))
  const blank = text.trim() === ''
  const usage = usageText(props.usage)
  const sending = useSending({ ...props, blank, voice, textNow, clear: () => setText('') })

  const onKeyDown = (event: KeyboardEvent) => {
    if (slash.take(event)) return
    // An Enter that finishes composing a character must not send the message.
    if (isComposingKey(event.nativeEvent) || event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    sending.submit()
  }
  const onFocus = (isFocused: boolean) => {
    setFocused(isFocused)
    slash.setFocused(isFocused)
  }
  const toggleCommand = () => {
    onCommand(!isCommand)
    box.current?.focus()
  }
  // A message that waits for its images must not become a command.
  useAction('commandMode', toggleCommand, !sending.waiting)
  useAction('leaveCommandMode', () => onCommand(false), isCommand)
  // Escape has many uses, so it stops an agent only from this box, and only while the box is empty.
  useAction('stopTurn', onStop, props.mayStop && focused && blank)

  return (
    <>
      {slash.list}
      <TextArea
        {...slash.field}
        ref={box}
        label={texts.composer.label}
        placeholder={isCommand ? texts.composer.commandPlaceholder : texts.composer.placeholder}
        minHeight={wide ? 44 : 36}
        maxHeight={maxHeightPx}
        maxCharacters={limits.messageLength}
        value={text}
        interim={appendWords(text, voice.interim).slice(text.length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onFocus={() => onFocus(true)}
        onBlur={() => onFocus(false)}
        className={classes(
          'px-3 pt-2 pb-1 text-input md:pt-2.5 md:text-body',
          isCommand && 'font-mono md:text-code',
        )}
      />
      <PendingTray pending={pending} notice={noticeOf(props, sending)} className="pt-1" />
      <div className="@container flex items-center gap-0.5 px-3 pb-0.5 md:px-1.5 md:pt-1 md:pb-1.5">
        <AttachButton images={pending} icon={Paperclip} />
        <VoiceButton voice={voice} />
        <IconButton
          icon={Terminal}
          label={texts.composer.command}
          aria-pressed={isCommand}
          disabled={sending.waiting}
          onClick={toggleCommand}
          className="aria-pressed:bg-raised aria-pressed:text-text"
        />
        <span className="flex min-w-0 flex-1 gap-0.5 px-0.5 md:px-1">
          {props.agentChoice}
          {props.model}
        </span>
        {usage !== null && (
          <span className="mr-2.5 hidden flex-none text-meta whitespace-nowrap text-muted @md:inline">
            {usage}
          </span>
        )}
        {/* A phone has no room for a row with its own stop button above the box. */}
        {!wide && props.mayStop && sending.empty && !isCommand && !sending.justSent ? (
          <StopButton onStop={onStop} />
        ) : (
          <SendButton sending={sending} />
        )}
      </div>
    </>
  )
})

interface Sending extends Pick<MessageBoxProps, 'box' | 'isCommand' | 'pending' | 'onSend'> {
  readonly blank: boolean
  readonly voice: ReturnType<typeof useVoice>
  readonly textNow: () => string
  readonly clear: () => void
}

/** How long Send stays where Stop comes after it, in milliseconds: the second tap of a double tap on it must not stop the turn. */
const doubleTapMs = 1_000

/** Sends the text with its images once they are uploaded. A command is sent without images, which stay for the next message. */
function useSending({ isCommand, pending, onSend, box, blank, voice, textNow, clear }: Sending) {
  const isTooLong = tooLong(textNow(), limits.messageLength) !== undefined
  const empty = blank && (isCommand || (completedOf(pending.images).length === 0 && !pending.uploading))
  const [sentAt, setSentAt] = useState<number | null>(null)
  useEffect(() => {
    if (sentAt === null) return
    const timer = setTimeout(() => setSentAt(null), doubleTapMs)
    return () => clearTimeout(timer)
  }, [sentAt])
  const send = () => {
    setSentAt(Date.now())
    voice.end()
    onSend(textNow().trim(), isCommand, isCommand ? [] : pending.completed())
    clear()
    if (!isCommand) pending.clear()
  }
  const { waiting, stopped, sendWhenUploaded } = useWhenUploaded(pending, () => {
    // The images may have been removed during the upload.
    if (!blank || pending.completed().length > 0) send()
  })
  const submit = () => {
    if (empty || isTooLong) return
    if (isCommand) send()
    // Each call would send once the uploads are complete.
    else if (!waiting) sendWhenUploaded()
  }
  const submitByButton = () => {
    submit()
    // The button is disabled now and loses the focus: what is typed next would act as shortcuts.
    box.current?.focus()
  }
  return { empty, isTooLong, justSent: sentAt !== null, waiting, stopped, submit, submitByButton }
}

type SendingState = ReturnType<typeof useSending>

function noticeOf(
  { isCommand, pending }: MessageBoxProps,
  { waiting, stopped }: SendingState,
): string | null {
  if (isCommand) return pending.images.length > 0 ? imageTexts.notToCommands : null
  if (waiting) return imageTexts.waiting
  return stopped ? imageTexts.stopped : null
}

function StopButton({ onStop }: Pick<MessageBoxProps, 'onStop'>) {
  return (
    <IconButton
      icon={Square}
      label={texts.composer.stop}
      kind="plain"
      size="small"
      onClick={onStop}
      className="[&_svg]:size-3 [&_svg]:fill-current"
    />
  )
}

function SendButton({ sending }: { readonly sending: SendingState }) {
  const { empty, isTooLong, waiting, submitByButton } = sending
  return (
    <IconButton
      icon={ArrowUp}
      label={texts.composer.send}
      kind="primary"
      size="small"
      disabled={empty || isTooLong}
      busy={waiting}
      onClick={submitByButton}
    />
  )
}
