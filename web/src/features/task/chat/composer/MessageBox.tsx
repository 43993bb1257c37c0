/** Where the next message is written, spoken and given images. What is typed here draws nothing else of the page again. */
import { limits } from '#domain/api/limits.ts'
import { ArrowUp, Paperclip, Square, Terminal } from 'lucide-react'
import { memo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { classes } from '../../../../ui/classes.ts'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { TextArea } from '../../../../ui/form/TextArea.tsx'
import { useMedia } from '../../../../ui/hooks.ts'
import { useSlashCommands } from '../../../agents/useSlashCommands.tsx'
import { AttachButton } from '../../../images/AttachButton.tsx'
import { PendingTray } from '../../../images/PendingTray.tsx'
import { completedOf } from '../../../images/pendingImages.ts'
import { texts as imageTexts } from '../../../images/texts.ts'
import type { PendingImages } from '../../../images/usePendingImages.ts'
import { useWhenUploaded } from '../../../images/useWhenUploaded.ts'
import { appendWords } from '../../../voice/appendWords.ts'
import { useVoice } from '../../../voice/useVoice.ts'
import { VoiceButton } from '../../../voice/VoiceButton.tsx'
import { texts } from '../texts.ts'
import { usageText } from './usageText.ts'
import { useChatDraft } from './useChatDraft.ts'

export type SendFromBox = (text: string, isCommand: boolean, images: readonly ShownImage[]) => void

interface MessageBoxProps {
  readonly taskId: string
  readonly agent: Task['agent']
  /** Who the next message goes to, where that is chosen here, and which model. */
  readonly agentChoice: ReactNode
  readonly model: ReactNode
  readonly usage: Task['usage']
  readonly isCommand: boolean
  readonly onCommand: (isCommand: boolean) => void
  readonly pending: PendingImages
  /** A turn goes on that can be stopped. */
  readonly mayStop: boolean
  readonly onStop: () => void
  readonly onSend: SendFromBox
}

/** Section 9. */
const tallest = 120

export const MessageBox = memo(function MessageBox({
  taskId,
  agent,
  agentChoice,
  model,
  usage,
  isCommand,
  onCommand,
  pending,
  mayStop,
  onStop,
  onSend,
}: MessageBoxProps) {
  const [text, setText, textNow] = useChatDraft(taskId)
  const [focused, setFocused] = useState(false)
  const wide = useMedia('(width >= 768px)')
  const slash = useSlashCommands({ agent, text, onWrite: setText, begins: false, off: isCommand })
  const box = useRef<HTMLTextAreaElement>(null)
  const voice = useVoice((words) => setText((before) => appendWords(before, words)))
  const blank = text.trim() === ''
  // Images wait for a message to the agent; a command is sent without them.
  const empty = blank && (isCommand || (completedOf(pending.images).length === 0 && !pending.uploading))

  const send = () => {
    voice.end()
    onSend(textNow().trim(), isCommand, isCommand ? [] : pending.completed())
    setText('')
    if (!isCommand) pending.clear()
  }
  const whenUploaded = useWhenUploaded(pending, () => {
    // Everything that was waited for may have been taken off again.
    if (!blank || pending.completed().length > 0) send()
  })
  const submit = () => {
    if (empty) return
    if (isCommand) send()
    else whenUploaded.ask()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (slash.take(event)) return
    // Enter that ends a composed character is not a wish to send.
    if (event.nativeEvent.isComposing || event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    submit()
  }
  const onFocus = (isFocused: boolean) => {
    setFocused(isFocused)
    slash.setFocused(isFocused)
  }
  const toggleCommand = () => {
    onCommand(!isCommand)
    box.current?.focus()
  }
  useAction('commandMode', toggleCommand)
  useAction('leaveCommandMode', () => onCommand(false), isCommand)
  // Escape is pressed for many reasons: it stops an agent only from here, and not while something is written.
  useAction('stopTurn', onStop, mayStop && focused && blank)

  // On a phone there is no room for a row of its own above the box.
  const stopsHere = !wide && mayStop && empty && !isCommand
  const said = isCommand
    ? pending.images.length > 0
      ? imageTexts.notToCommands
      : null
    : whenUploaded.waiting
      ? imageTexts.waiting
      : whenUploaded.stopped
        ? imageTexts.stopped
        : null
  return (
    <>
      {slash.list}
      <TextArea
        {...slash.field}
        ref={box}
        label={texts.composer.label}
        placeholder={isCommand ? texts.composer.commandPlaceholder : texts.composer.placeholder}
        minHeight={wide ? 44 : 36}
        maxHeight={tallest}
        maxLength={limits.messageLength}
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
      <PendingTray pending={pending} said={said} className="pt-1" />
      <div className="@container flex items-center gap-0.5 px-1 pb-0.5 md:px-1.5 md:pt-1 md:pb-1.5">
        <AttachButton images={pending} icon={Paperclip} />
        <VoiceButton voice={voice} />
        <IconButton
          icon={Terminal}
          label={texts.composer.command}
          aria-pressed={isCommand}
          onClick={toggleCommand}
          className="aria-pressed:bg-raised aria-pressed:text-text"
        />
        <span className="flex min-w-0 flex-1 gap-0.5 px-0.5 md:px-1">
          {agentChoice}
          {model}
        </span>
        <Usage usage={usage} />
        {stopsHere ? (
          <IconButton
            icon={Square}
            label={texts.composer.stop}
            kind="plain"
            size="small"
            onClick={onStop}
            className="[&_svg]:size-3 [&_svg]:fill-current"
          />
        ) : (
          <IconButton
            icon={ArrowUp}
            label={texts.composer.send}
            kind="primary"
            size="small"
            disabled={empty}
            busy={whenUploaded.waiting}
            onClick={submit}
          />
        )}
      </div>
    </>
  )
})

function Usage({ usage }: { readonly usage: Task['usage'] }) {
  const words = usageText(usage)
  if (words === null) return null
  return (
    <span className="mr-2.5 hidden flex-none text-meta whitespace-nowrap text-muted @md:inline">{words}</span>
  )
}
