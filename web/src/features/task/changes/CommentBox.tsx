/** The box for a comment on lines. The comment is sent to the agent as a message. */
import { useEffect, useId, useRef, type KeyboardEvent } from 'react'
import { limits } from '#domain/api/limits.ts'
import { isMac, keyCaps } from '../../../actions/keys.ts'
import { tooLong } from '../../../ui/form/lengthLimit.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { KeyCap } from '../../../ui/text/KeyCap.tsx'
import type { DiffLine } from './diff/parseDiff.ts'
import { commentMessage, placeOf, quoteOf } from './commentMessage.ts'
import { splitName } from './diff/readDiffs.ts'
import { texts } from './texts.ts'
import { isComposingKey } from '../../../ui/isComposingKey.ts'

export interface CommentBoxProps {
  readonly fileName: string
  readonly lines: readonly DiffLine[]
  readonly agent: string
  readonly text: string
  readonly onText: (text: string) => void
  /** Receives the whole message to the agent. */
  readonly onSend: (message: string) => void
  readonly onCancel: () => void
}

export function CommentBox({ fileName, lines, agent, text, onText, onSend, onCancel }: CommentBoxProps) {
  const send = () => onSend(commentMessage(fileName, lines, text))
  const box = useRef<HTMLTextAreaElement>(null)
  const head = useId()
  const { place, isBefore } = placeOf(lines)
  const name = `${splitName(fileName).name}:${place}`
  const maxLength = limits.messageLength - quoteOf(fileName, lines).length - 2
  const why = tooLong(text, maxLength)
  const maySend = text.trim() !== '' && why === undefined
  // The person asked for the box, so it gets the focus.
  useEffect(() => box.current?.focus({ preventScroll: true }), [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposingKey(event.nativeEvent)) return
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && maySend) send()
    else if (event.key === 'Escape') onCancel()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="sticky left-0 w-[100cqw] max-w-200 px-3 py-2 md:pl-25">
      <section
        aria-label={texts.commentOn(name)}
        className="rounded-panel border border-control bg-panel font-ui focus-within:border-accent focus-within:ring focus-within:ring-accent"
      >
        <p
          id={head}
          className="flex h-8 items-center gap-1 border-b border-line-soft px-3 text-meta text-muted"
        >
          {texts.commentTo(agent)}{' '}
          <span className="min-w-0 truncate mono text-text" title={fileName}>
            {name}
          </span>{' '}
          {isBefore && texts.before}
        </p>
        <textarea
          ref={box}
          aria-labelledby={head}
          placeholder={texts.commentPlaceholder}
          rows={2}
          aria-invalid={why !== undefined}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          className="block field-sizing-content max-h-50 min-h-12 w-full resize-none bg-transparent px-3 py-2 text-typed outline-none"
        />
        {why !== undefined && (
          <p role="alert" className="px-3 pb-2 text-meta text-bad">
            {why}
          </p>
        )}
        <div className="flex justify-end gap-2 px-2 pb-2">
          <Button kind="ghost" size="small" onClick={onCancel}>
            {texts.cancel}
          </Button>
          <Button kind="primary" size="small" disabled={!maySend} title={why} onClick={send}>
            {texts.send}
            <span className="hidden items-center gap-1 md:inline-flex" aria-hidden="true">
              {keyCaps('mod+enter', isMac()).map((cap) => (
                <KeyCap key={cap}>{cap}</KeyCap>
              ))}
            </span>
          </Button>
        </div>
      </section>
    </div>
  )
}
