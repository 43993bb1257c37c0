/** A popover next to a line of a changed file: the turn that wrote it, the message that requested that turn and, if known, the tool call. */
import { History, Wrench } from 'lucide-react'
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import { Link, useParams } from 'react-router-dom'
import { agentNamed } from '#domain/agents.ts'
import { reasonOf } from '../../../api/fault.ts'
import { placeBeside } from '../../../ui/overlay/placeBeside.ts'
import { clockTime } from '../../../ui/text/times.ts'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import type { DiffFile } from '../changes/diff/readDiffs.ts'
import { type TurnOfLines, useProvenanceQuery, type Provenance } from './provenanceApi.ts'
import { texts } from './texts.ts'

interface LineOriginProps {
  readonly file: DiffFile
  readonly line: number
  /** The position of the line's number on the screen. */
  readonly anchor: DOMRect
  /** Called to close the popover; `goBack` says whether the focus returns to the line. */
  readonly onClose: (goBack: boolean) => void
}

export function LineOrigin({ file, line, anchor, onClose }: LineOriginProps) {
  const { taskId = '' } = useParams()
  const box = useRef<HTMLDivElement>(null)
  const { data, error } = useProvenanceQuery({ taskId, path: file.name, hash: file.hash })
  const isSettled = data !== undefined || error !== undefined
  useLayoutEffect(() => {
    box.current?.showPopover()
    box.current?.focus()
  }, [])
  // Positioned again after each render, because the height changes with the content.
  useLayoutEffect(() => {
    if (box.current !== null) placeBeside(box.current, anchor, { align: 'start', gap: 6, edge: 8 })
  })
  useClosing(box, onClose)
  return (
    <div
      ref={box}
      popover="manual"
      role="dialog"
      aria-label={texts.ofLine(line)}
      tabIndex={-1}
      className="fixed inset-auto m-0 w-80 max-w-[calc(100vw-1rem)] animate-appear rounded-panel bg-panel p-3 text-ui whitespace-normal text-text shadow-float outline-none"
    >
      {error !== undefined && (
        <p role="alert" className="text-bad">
          {reasonOf(error, texts.failed)}
        </p>
      )}
      {!isSettled && (
        <div role="status" className="grid gap-2">
          <span className="sr-only">{texts.loading}</span>
          <Skeleton className="h-4 w-32" />
          <Skeleton className="h-8 w-full" />
        </div>
      )}
      {data !== undefined && (
        <OriginOfLine origin={originOf(data, file.file.diff, line)} taskId={taskId} line={line} />
      )}
    </div>
  )
}

/** Closes the popover on Escape. The popover belongs to a position on the screen, so scrolling or clicking elsewhere closes it too. */
function useClosing(
  box: { readonly current: HTMLElement | null },
  onClose: LineOriginProps['onClose'],
): void {
  const close = useEffectEvent(onClose)
  useEffect(() => {
    const elsewhere = (event: Event) => {
      if (!(event.target instanceof Node && box.current?.contains(event.target))) close(false)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      // Without this, Escape would also close the dialog or panel below the popover.
      event.stopPropagation()
      event.preventDefault()
      close(true)
    }
    const leaving = new AbortController()
    const first = { capture: true, signal: leaving.signal }
    document.addEventListener('keydown', onKey, first)
    document.addEventListener('pointerdown', elsewhere, first)
    document.addEventListener('scroll', elsewhere, first)
    window.addEventListener('resize', elsewhere, { signal: leaving.signal })
    return () => leaving.abort()
  }, [box])
}

interface OriginProps {
  readonly origin: ReturnType<typeof originOf>
  readonly taskId: string
  readonly line: number
}

function OriginOfLine({ origin, taskId, line }: OriginProps) {
  if (origin.kind === 'turn' && origin.turn.taskId === taskId)
    return <Turn turn={origin.turn} taskId={taskId} />
  return (
    <>
      <h3 className="font-medium">{texts.ofLine(line)}</h3>
      <p className="mt-1 text-muted">
        {origin.kind === 'turn' ? (
          <Link to={`/tasks/${origin.turn.taskId}/history`} className="text-accent hover:underline">
            {texts.earlierTask}
          </Link>
        ) : (
          texts[origin.kind]
        )}
      </p>
    </>
  )
}

function Turn({ turn, taskId }: { readonly turn: TurnOfLines; readonly taskId: string }) {
  const { number, kind, agent, at, prompt, call } = turn
  const moment = call?.moment ?? turn.moment
  const who = kind === 'turn' && agent !== null ? ` · ${agentNamed(agent).label}` : ''
  return (
    <>
      <div className="flex items-baseline gap-2">
        <h3 className="min-w-0 flex-1 truncate font-medium">
          {texts.turn[kind](number)}
          <span className="font-normal text-muted">{who}</span>
        </h3>
        {at !== null && (
          <time dateTime={at} className="text-meta text-muted">
            {clockTime(at)}
          </time>
        )}
      </div>
      <p className="mt-1.5 line-clamp-4 border-l-2 border-line pl-2 wrap-anywhere whitespace-pre-line">
        {prompt ?? <span className="text-muted">{texts.erased}</span>}
      </p>
      {kind === 'turn' && <p className="mt-2 text-meta text-muted">{callOf(turn)}</p>}
      {moment !== null && (
        <Link
          to={`/tasks/${taskId}/history?at=${moment}`}
          className="mt-2.5 flex min-h-6 items-center gap-1.5 text-accent hover:underline"
        >
          <History className="size-3.5" />
          {texts.openMoment}
        </Link>
      )}
    </>
  )
}

function callOf({ call, edits, otherCalls }: TurnOfLines) {
  if (call === null) return texts.unclear(edits.length, otherCalls)
  const { name, target, additions, deletions } = call
  return (
    <span className="flex items-baseline gap-1.5">
      <Wrench className="size-3.5 flex-none self-center" />
      <span className="flex-none">{name ?? texts.call[call.kind]}</span>
      {target !== null && (
        <span className="min-w-0 truncate mono" title={target}>
          {target}
        </span>
      )}
      {(additions !== null || deletions !== null) && (
        <span className="flex-none">{texts.counts(additions ?? 0, deletions ?? 0)}</span>
      )}
    </span>
  )
}

export type Origin =
  | { readonly kind: 'turn'; readonly turn: TurnOfLines }
  /** The line is older than the task, or somebody else wrote it. */
  | { readonly kind: 'unknown' }
  /** The file has changed since the end of the last turn, so line numbers may differ. */
  | { readonly kind: 'changed' }

/**
 * Finds the turn that wrote a line, from the server's data about the file. `diff` is the file's diff as it is shown, and `line` the line's number
 * after the changes.
 */
export function originOf({ blob, ranges, turns }: Provenance, diff: string, line: number): Origin {
  const blobPrefix = /^index [0-9a-f]+\.\.([0-9a-f]+)/m.exec(diff)?.[1]
  if (blob === null || blobPrefix === undefined || !blob.startsWith(blobPrefix)) return { kind: 'changed' }
  const range = ranges.find(({ from, to }) => from <= line && line <= to)
  const turn = turns.find(({ executionId }) => executionId === range?.executionId)
  if (turn === undefined) return { kind: 'unknown' }
  return { kind: 'turn', turn: { ...turn, call: turn.calls.find(({ id }) => id === range?.callId) ?? null } }
}
