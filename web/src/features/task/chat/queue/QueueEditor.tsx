/** The editor of a waiting message, in place of the message: Enter saves, Escape cancels. */
import { limits } from '#domain/api/limits.ts'
import { useState, type KeyboardEvent } from 'react'
import { Button } from '../../../../ui/form/Button.tsx'
import { classes } from '../../../../ui/classes.ts'
import type { AgentName } from '#domain/agents.ts'
import { tooLong } from '../../../../ui/form/lengthLimit.ts'
import { TextArea } from '../../../../ui/form/TextArea.tsx'
import { useSuggestions } from '../../../agents/useSuggestions.tsx'
import type { WaitingMessage } from './queueChanges.ts'
import { texts } from '../texts.ts'
import { isComposingKey } from '../../../../ui/isComposingKey.ts'

interface QueueEditorProps {
  readonly message: WaitingMessage
  /** The agent of the task, for messages that name none. */
  readonly taskAgent: AgentName
  /** Whether the message has left the queue meanwhile, so that the text is kept for a new message. */
  readonly gone: boolean
  readonly onSave: (text: string) => void
  readonly onCancel: () => void
}

/** The height above which the box scrolls, in pixels (contract, section 9). */
const maxHeightPx = 120

export function QueueEditor({ message, taskAgent, gone, onSave, onCancel }: QueueEditorProps) {
  const [text, setText] = useState(message.message ?? '')
  const { agent, isCommand } = message
  const slash = useSuggestions({
    agent: agent ?? taskAgent,
    place: { taskId: message.task },
    text,
    onWrite: setText,
    begins: false,
    off: isCommand,
  })
  const why = tooLong(text, limits.messageLength)
  const maySave = text.trim() !== '' && why === undefined
  const onKeyDown = (event: KeyboardEvent) => {
    if (slash.take(event)) return event.stopPropagation()
    if (isComposingKey(event.nativeEvent)) return
    if (event.key === 'Escape') onCancel()
    else if (event.key === 'Enter' && !event.shiftKey) {
      if (maySave) onSave(text.trim())
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="border-t border-line-soft px-3 py-2">
      {gone && (
        <p role="status" className="mb-1 text-meta text-warn">
          {texts.queue.gone}
        </p>
      )}
      {slash.list}
      <TextArea
        {...slash.field}
        label={texts.queue.editLabel}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person asked to write here
        autoFocus
        minHeight={30}
        maxHeight={maxHeightPx}
        maxCharacters={limits.messageLength}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onFocus={({ currentTarget }) => {
          currentTarget.setSelectionRange(text.length, text.length)
          slash.setFocused(true)
        }}
        onBlur={() => slash.setFocused(false)}
        className={classes(
          'rounded-control border border-control bg-panel px-2 py-1 text-typed focus:border-accent focus:ring focus:ring-accent',
          isCommand && 'font-mono md:text-code',
        )}
      />
      <div className="mt-1.5 flex justify-end gap-2">
        <Button size="small" kind="ghost" onClick={onCancel} className="max-md:h-11!">
          {texts.queue.cancel}
        </Button>
        <Button
          size="small"
          kind="primary"
          disabled={!maySave}
          title={why}
          onClick={() => onSave(text.trim())}
          className="max-md:h-11!"
        >
          {gone ? texts.queue.sendAsNew : texts.queue.save}
        </Button>
      </div>
    </div>
  )
}
