/** What was printed, line by line, with its times. Only the lines in sight are in the page, however many there are. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, Copy, WrapText } from 'lucide-react'
import { useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useDispatch } from 'react-redux'
import { Button } from '../../../ui/Button.tsx'
import { Empty } from '../../../ui/Empty.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Note } from '../../../ui/Note.tsx'
import { useFollowEnd } from '../../../ui/useFollowEnd.ts'
import { notified } from '../../notifications/notifications.ts'
import { texts as taskTexts } from '../texts.ts'
import { withoutColours } from './outputLines.ts'
import { isCommandLine, TerminalRow } from './TerminalRow.tsx'
import type { TerminalLog } from './terminalLog.ts'
import { texts } from './texts.ts'

interface TerminalPanelProps {
  readonly terminal: TerminalLog
  readonly reload: () => void
  /** A cursor stands at the end while something runs. */
  readonly running: boolean
}

const lineHeight = 20
const commandHeight = 32

export function TerminalPanel({ terminal, reload, running }: TerminalPanelProps) {
  const dispatch = useDispatch()
  const { lines, change, dropped, state, reason } = useSyncExternalStore(terminal.subscribe, terminal.read)
  const [wrap, setWrap] = useState(false)
  const { box, content, following, onScroll, jumpToEnd } = useFollowEnd()
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (isCommandLine(lines[index]) ? commandHeight : lineHeight),
    getItemKey: (index) => lines[index]?.id ?? index,
    overscan: 12,
  })
  // Wrapped lines have heights of their own, and lose them when wrapping ends.
  const wrapped = useRef(wrap)
  useLayoutEffect(() => {
    if (wrapped.current === wrap) return
    wrapped.current = wrap
    rows.measure()
  })
  useLayoutEffect(() => {
    if (following && change > 0) jumpToEnd()
  }, [change, following, jumpToEnd])

  const copy = async () => {
    const text = lines.map((line) => withoutColours(line.text)).join('\n')
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    dispatch(
      copied ? notified('success', taskTexts.toasts.copied) : notified('error', taskTexts.toasts.notCopied),
    )
  }

  const count = new Intl.NumberFormat('en-US')
  return (
    <>
      {state === 'failed' && (
        <Note
          kind="error"
          className="m-4 flex-none"
          action={
            <Button size="small" onClick={reload}>
              {taskTexts.tryAgain}
            </Button>
          }
        >
          {reason || taskTexts.terminalNotFetched}
        </Note>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <div
          ref={box}
          onScroll={onScroll}
          role="log"
          aria-label={texts.label}
          // Reading out every line of a build would drown everything else.
          aria-live="off"
          tabIndex={0}
          className="focus-inset min-h-0 flex-1 overflow-auto overscroll-contain py-2 font-mono text-code tracking-normal"
        >
          {state === 'loaded' && lines.length === 0 && !running && (
            <Empty title={texts.empty} className="font-ui">
              {texts.emptyWhy}
            </Empty>
          )}
          <div ref={content} className="relative min-w-full" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map(({ index, start, key }) => {
              const line = lines[index]
              return (
                line !== undefined && (
                  <TerminalRow
                    key={key}
                    measure={wrap ? rows.measureElement : undefined}
                    index={index}
                    top={start}
                    line={line}
                    before={lines[index - 1]}
                    wrap={wrap}
                  />
                )
              )
            })}
          </div>
          {running && <span aria-hidden="true" className="caret ml-21.5" />}
        </div>
        {!following && (
          <Button
            size="small"
            icon={<ArrowDown className="size-3.5" />}
            onClick={jumpToEnd}
            className="absolute right-4 bottom-3 shadow-float"
          >
            {texts.latest}
          </Button>
        )}
      </div>
      <footer className="flex h-11 flex-none items-center gap-4 border-t border-line-soft pr-1 pl-4 text-meta text-muted md:h-8">
        <span>{texts.lines(count.format(lines.length + dropped))}</span>
        {dropped > 0 && <span>{texts.dropped(count.format(dropped))}</span>}
        <span className="hidden items-center gap-1.5 md:inline-flex">
          <span className="h-3 w-0.5 bg-bad" aria-hidden="true" />
          {texts.stderr}
        </span>
        <span className="flex-1" />
        <span className="hidden md:inline">{following ? texts.following : texts.notFollowing}</span>
        <span className="flex">
          <IconButton
            icon={WrapText}
            label={texts.wrap}
            size="small"
            aria-pressed={wrap}
            onClick={() => setWrap(!wrap)}
            className="aria-pressed:bg-raised aria-pressed:text-text"
          />
          <IconButton icon={Copy} label={texts.copy} size="small" onClick={() => void copy()} />
        </span>
      </footer>
    </>
  )
}
