/** The output of a task, line by line, with times. Only visible lines are rendered, however many there are. */
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { useMedia } from '../../../ui/hooks.ts'
import { JumpToEnd } from '../JumpToEnd.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { texts as taskTexts } from '../texts.ts'
import { maxMatches } from './log/findInLines.ts'
import { TerminalButtons } from './TerminalButtons.tsx'
import { TerminalRows } from './TerminalRows.tsx'
import type { TerminalLog, TerminalView } from './log/terminalLog.ts'
import { texts } from './texts.ts'
import { type TerminalFind, useTerminalFind } from './useTerminalFind.ts'
import { useTerminalRows } from './useTerminalRows.ts'

interface TerminalPanelProps {
  readonly terminal: TerminalLog
  readonly reload: () => void
  /** Whether something is running: if so, a cursor is shown at the end. */
  readonly running: boolean
  readonly visible: boolean
  /** The element that gets the panel's buttons; `null` when they are at the foot of the panel. */
  readonly tools: HTMLElement | null
}

const findKeys = {
  previous: shortcutOf('terminalPrevious'),
  next: shortcutOf('terminalNext'),
  close: shortcutOf('terminalFindClose'),
}

export function TerminalPanel({ terminal, reload, running, visible, tools }: TerminalPanelProps) {
  const view = useSyncExternalStore(terminal.subscribe, terminal.read)
  const { lines, state, reason } = view
  const narrow = useMedia('(width < 768px)')
  const [chosenWrap, setWrap] = useState<boolean | null>(null)
  const wrap = chosenWrap ?? narrow
  const [focused, setFocused] = useState(false)
  const rows = useTerminalRows(view, wrap)
  const find = useTerminalFind(lines, rows.topId, rows.reveal)
  const closeFind = () => {
    find.close()
    rows.box.current?.focus()
  }
  const inFind = focused && find.isOpen
  useAction('terminalFind', find.open, focused)
  useAction('terminalNext', () => find.step(1), inFind)
  useAction('terminalPrevious', () => find.step(-1), inFind)
  useAction('terminalFindClose', closeFind, inFind)

  const buttons = (
    <TerminalButtons
      lines={lines}
      find={find}
      onCloseFind={closeFind}
      wrap={wrap}
      onWrap={() => setWrap(!wrap)}
    />
  )
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches the controls inside it
    <div
      onFocus={() => setFocused(true)}
      onBlur={(event) => setFocused(event.currentTarget.contains(event.relatedTarget))}
      className="flex min-h-0 flex-1 flex-col"
    >
      {state === 'failed' && (
        <FailureNote className="m-4 flex-none" onRetry={reload}>
          {reason || taskTexts.terminalNotFetched}
        </FailureNote>
      )}
      {find.isOpen && <Find find={find} onClose={closeFind} />}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <TerminalRows
          view={view}
          rows={rows}
          wrap={wrap}
          running={running}
          words={find.isOpen ? find.words : ''}
          current={find.current}
          onEarlier={() => void terminal.showEarlier()}
        >
          {state === 'loaded' && lines.length === 0 && !running && (
            <Empty title={texts.empty} className="font-ui">
              {texts.emptyWhy}
            </Empty>
          )}
        </TerminalRows>
        {!rows.following && (
          <JumpToEnd onJump={rows.jumpToEnd} className="right-4 bottom-3">
            {texts.latest}
          </JumpToEnd>
        )}
      </div>
      <Footer view={view} following={rows.following}>
        {tools === null && buttons}
      </Footer>
      {tools !== null && visible && createPortal(buttons, tools)}
    </div>
  )
}

function Find({ find, onClose }: { readonly find: TerminalFind; readonly onClose: () => void }) {
  const { words, count, nth } = find
  const result = count === 0 ? texts.notFound : texts.found(nth, count, count >= maxMatches)
  return (
    <SearchBar
      names={texts.find}
      keys={findKeys}
      words={words}
      onWords={find.search}
      result={words === '' ? '' : result}
      nothing={count === 0}
      onStep={find.step}
      onClose={onClose}
    />
  )
}

interface FooterProps {
  readonly view: TerminalView
  readonly following: boolean
  readonly children: ReactNode
}

function Footer({ view, following, children }: FooterProps) {
  return (
    <footer className="flex h-11 flex-none items-center gap-4 border-t border-line-soft pr-1 pl-4 text-meta text-muted md:h-8 md:pr-4">
      <span>{lineCount(view)}</span>
      {view.lines.some(({ channel }) => channel === 'stderr') && (
        <span className="hidden items-center gap-1.5 md:inline-flex">
          <span className="h-3 w-0.5 bg-bad" aria-hidden="true" />
          {texts.stderr}
        </span>
      )}
      <span className="flex-1" />
      <span className="hidden md:inline">{following ? texts.following : texts.notFollowing}</span>
      {children}
    </footer>
  )
}

function lineCount({ state, lines, earlier }: TerminalView): string | null {
  if (state !== 'loaded' && lines.length === 0) return state === 'loading' ? texts.loading : null
  return earlier === 'none' ? texts.lines(lines.length) : texts.latestLines(lines.length)
}
