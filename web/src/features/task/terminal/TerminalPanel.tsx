/** What was printed, line by line, with its times. Only the lines in sight are in the page, however many there are. */
import { ArrowDown, Copy, Search, WrapText } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { texts as taskTexts } from '../texts.ts'
import { useCopy } from '../useCopy.ts'
import { mostMatches } from './log/findInLines.ts'
import { withoutColours } from './log/outputLines.ts'
import { TerminalRows } from './TerminalRows.tsx'
import type { TerminalLog } from './log/terminalLog.ts'
import { texts } from './texts.ts'
import { useTerminalFind } from './useTerminalFind.ts'
import { useTerminalRows } from './useTerminalRows.ts'

interface TerminalPanelProps {
  readonly terminal: TerminalLog
  readonly reload: () => void
  /** A cursor stands at the end while something runs. */
  readonly running: boolean
  readonly shown: boolean
  /** Where its buttons go; `null` where there is no such place, then they are at its foot. */
  readonly tools: HTMLElement | null
}

const findKeys = {
  previous: shortcutOf('terminalPrevious'),
  next: shortcutOf('terminalNext'),
  close: shortcutOf('terminalFindClose'),
}

export function TerminalPanel({ terminal, reload, running, shown, tools }: TerminalPanelProps) {
  const copy = useCopy()
  const view = useSyncExternalStore(terminal.subscribe, terminal.read)
  const { lines, earlier, state, reason } = view
  const [wrap, setWrap] = useState(false)
  const [focused, setFocused] = useState(false)
  const rows = useTerminalRows(view, wrap)
  const find = useTerminalFind(lines, rows.topId, rows.reveal)
  const { box, following, jumpToEnd } = rows

  const closeFind = () => {
    find.close()
    box.current?.focus()
  }
  useAction('terminalFind', find.open, focused)
  useAction('terminalNext', () => find.step(1), focused && find.isOpen)
  useAction('terminalPrevious', () => find.step(-1), focused && find.isOpen)
  useAction('terminalFindClose', closeFind, focused && find.isOpen)

  const buttons = (
    <span className="flex flex-none items-center gap-0.5">
      <IconButton
        icon={Search}
        label={texts.find.label}
        size="small"
        aria-expanded={find.isOpen}
        onClick={find.isOpen ? closeFind : find.open}
        {...shortcutOf('terminalFind')}
      />
      <IconButton
        icon={WrapText}
        label={texts.wrap}
        size="small"
        aria-pressed={wrap}
        onClick={() => setWrap(!wrap)}
        className="aria-pressed:bg-raised aria-pressed:text-text"
      />
      <IconButton
        icon={Copy}
        label={texts.copy}
        size="small"
        onClick={() => copy(lines.map((line) => withoutColours(line.text)).join('\n'))}
      />
    </span>
  )

  return (
    // Whether the keys of the terminal are meant is where the focus is.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches the controls inside it
    <div
      onFocus={() => setFocused(true)}
      onBlur={(event) => setFocused(event.currentTarget.contains(event.relatedTarget))}
      className="flex min-h-0 flex-1 flex-col"
    >
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
      {find.isOpen && (
        <SearchBar
          names={texts.find}
          keys={findKeys}
          words={find.words}
          onWords={find.search}
          said={
            find.words === ''
              ? ''
              : find.count === 0
                ? texts.notFound
                : texts.found(find.nth, find.count, find.count >= mostMatches)
          }
          nothing={find.count === 0}
          onStep={find.step}
          onClose={closeFind}
        />
      )}
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
      <footer className="flex h-11 flex-none items-center gap-4 border-t border-line-soft pr-1 pl-4 text-meta text-muted md:h-8 md:pr-4">
        <span>
          {state !== 'loaded' && lines.length === 0
            ? state === 'loading' && texts.loading
            : earlier === 'none'
              ? texts.lines(lines.length)
              : texts.latestLines(lines.length)}
        </span>
        <span className="hidden items-center gap-1.5 md:inline-flex">
          <span className="h-3 w-0.5 bg-bad" aria-hidden="true" />
          {texts.stderr}
        </span>
        <span className="flex-1" />
        <span className="hidden md:inline">{following ? texts.following : texts.notFollowing}</span>
        {tools === null && buttons}
      </footer>
      {tools !== null && shown && createPortal(buttons, tools)}
    </div>
  )
}
