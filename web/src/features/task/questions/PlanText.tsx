/** A plan, passage by passage. A whole passage, or text that is selected in the plan, can be commented on. */
import { MessageSquareQuote } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { Button } from '../../../ui/form/Button.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { isComposingKey } from '../../../ui/isComposingKey.ts'
import { MarkdownText } from '../chat/entries/MessageBody.tsx'
import { passagesOf } from '../chat/markdown/blocks.ts'
import { AnswerText } from './AnswerText.tsx'
import type { AnswerDraft } from './answerDraft.ts'
import { texts } from './texts.ts'
import type { Answering } from './useAnswer.ts'

/** A plan with more characters or more passages than this is shown as one passage. */
const most = { characters: 100_000, passages: 200 } as const

interface PlanTextProps {
  readonly plan: string
  readonly draft: AnswerDraft
  readonly edit: Answering['edit']
}

export function PlanText({ plan, draft, edit }: PlanTextProps) {
  const box = useRef<HTMLDivElement>(null)
  const selection = useSelection(box)
  const passages = shownPassages(plan)
  const begin = (quote: string, block: number) => {
    document.getSelection()?.removeAllRanges()
    edit({ open: { quote, text: draft.open?.text ?? '', block } })
  }
  return (
    <div ref={box} data-searched="" className="relative grid grid-cols-1 gap-2.5">
      {passages.length === 0 && <p className="text-muted">{texts.plan.empty}</p>}
      {passages.map((passage, block) => (
        // A plan does not change, so the index identifies a passage.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={block} data-passage={block}>
          <div className="group/passage relative pr-9 md:pr-7">
            <MarkdownText text={passage} />
            <span className="absolute -top-1 right-0 select-none md:opacity-0 md:group-hover/passage:opacity-100 md:focus-within:opacity-100">
              <IconButton
                icon={MessageSquareQuote}
                label={texts.plan.commentOnBlock}
                size="row"
                onClick={() => begin(passage.trim(), block)}
              />
            </span>
          </div>
          {draft.open?.block === block && (
            <CommentEditor key={draft.open.quote} draft={draft} open={draft.open} edit={edit} />
          )}
        </div>
      ))}
      {selection !== null && (
        <Button
          size="small"
          icon={<MessageSquareQuote className="size-3.5" />}
          // Pressing the button would otherwise clear the selection.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => begin(selection.quote, selection.block)}
          className="absolute! z-10 shadow-float"
          style={{ top: selection.top, left: selection.left }}
        >
          {texts.plan.commentOnSelection}
        </Button>
      )}
    </div>
  )
}

function shownPassages(plan: string): readonly string[] {
  if (plan.length > most.characters) return [plan]
  const passages = passagesOf(plan).filter((block) => block.trim() !== '')
  return passages.length > most.passages ? [plan] : passages
}

interface Selected {
  readonly quote: string
  /** The index of the passage in which the selection ends. */
  readonly block: number
  /** The position of the button that begins a comment, in pixels from the corner of the plan. */
  readonly top: number
  readonly left: number
}

/** The text that is selected within the plan; `null` without a selection. */
function useSelection(box: { readonly current: HTMLElement | null }): Selected | null {
  const [selected, setSelected] = useState<Selected | null>(null)
  useEffect(() => {
    const read = () => setSelected(box.current === null ? null : selectedIn(box.current))
    document.addEventListener('selectionchange', read)
    return () => document.removeEventListener('selectionchange', read)
  }, [box])
  return selected
}

/** Room for the button beside the end of a selection, in pixels. */
const buttonWidth = 112

function selectedIn(box: HTMLElement): Selected | null {
  const selection = document.getSelection()
  if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return null
  const range = selection.getRangeAt(0)
  const end = range.endContainer instanceof Element ? range.endContainer : range.endContainer.parentElement
  const passage = end?.closest('[data-passage]')
  const quote = selection.toString().trim()
  if (!box.contains(range.startContainer) || !passage || !box.contains(passage) || quote === '') return null
  const [frame, last] = [box.getBoundingClientRect(), [...range.getClientRects()].at(-1)]
  if (last === undefined) return null
  return {
    quote,
    block: Number(passage.getAttribute('data-passage')),
    top: last.bottom - frame.top + 4,
    left: Math.max(0, Math.min(last.right - frame.left, frame.width - buttonWidth)),
  }
}

interface CommentEditorProps extends Pick<PlanTextProps, 'draft' | 'edit'> {
  readonly open: NonNullable<AnswerDraft['open']>
}

function CommentEditor({ draft, open, edit }: CommentEditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const { quote, text } = open
  // The person asked for the box, so it gets the focus.
  useEffect(() => box.current?.querySelector('textarea')?.focus({ preventScroll: true }), [])
  const add = () => {
    if (text.trim() !== '') edit({ open: null, comments: [...draft.comments, { quote, text: text.trim() }] })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposingKey(event.nativeEvent)) return
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) add()
    else if (event.key === 'Escape') edit({ open: null })
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- keys of the box within
    <div ref={box} onKeyDown={onKeyDown} className="mt-2 grid gap-2 border-l-2 border-accent pl-3">
      <blockquote className="line-clamp-2 text-meta wrap-anywhere text-muted">{quote}</blockquote>
      <AnswerText
        label={texts.plan.comment}
        placeholder={texts.plan.commentPlaceholder}
        value={text}
        onChange={(written) => edit({ open: { ...open, text: written } })}
      />
      <div className="flex gap-2">
        <Button size="small" disabled={text.trim() === ''} onClick={add}>
          {texts.plan.add}
        </Button>
        <Button size="small" kind="ghost" onClick={() => edit({ open: null })}>
          {texts.plan.cancel}
        </Button>
      </div>
    </div>
  )
}
