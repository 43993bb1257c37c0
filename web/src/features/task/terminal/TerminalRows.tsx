/** The visible lines of the terminal, in a box that scrolls over all its lines. */
import type { ReactNode } from 'react'
import { Button } from '../../../ui/form/Button.tsx'
import type { CommandBlock } from './log/commandBlocks.ts'
import { CommandResult, FoldButton } from './CommandParts.tsx'
import type { Match } from './log/findInLines.ts'
import { withoutColours } from './log/outputLines.ts'
import { commandOf, linesOf } from './log/visibleRows.ts'
import { TerminalRow } from './TerminalRow.tsx'
import type { TerminalView } from './log/terminalLog.ts'
import { texts } from './texts.ts'
import { selectedText } from './useRowSelection.ts'
import type { TerminalRowsState } from './useTerminalRows.ts'

interface TerminalRowsProps {
  readonly view: TerminalView
  readonly rows: TerminalRowsState
  readonly wrap: boolean
  readonly running: boolean
  readonly words: string
  readonly current: Match | null
  readonly onEarlier: () => void
  readonly children: ReactNode
}

export function TerminalRows({
  view: { lines, commands, earlier },
  rows,
  wrap,
  running,
  words,
  current,
  onEarlier,
  children,
}: TerminalRowsProps) {
  const { box, content, onScroll, virtual, height, lineOf, folded, toggle } = rows
  const firstId = lines[0]?.id ?? 0
  const beside = (command: CommandBlock | undefined) => {
    if (command === undefined) return undefined
    const count = linesOf(command, firstId, lines.length)
    return {
      fold: <FoldButton folded={folded.has(command.id)} lines={count} onToggle={() => toggle(command.id)} />,
      result: <CommandResult command={command} lines={count} running={running} />,
    }
  }
  return (
    <div
      ref={box}
      onScroll={onScroll}
      onCopy={(event) => {
        const text = selectedText(document.getSelection(), content.current, (row) =>
          withoutColours(lineOf(row)?.text ?? ''),
        )
        if (text === null) return
        event.preventDefault()
        event.clipboardData.setData('text/plain', text)
      }}
      role="log"
      aria-label={texts.label}
      // Off, because announcing every line of a build would drown everything else.
      aria-live="off"
      tabIndex={0}
      className="focus-inset min-h-0 flex-1 overflow-auto overscroll-contain font-mono text-code tracking-normal"
    >
      {children}
      <div ref={content} className="relative min-w-full" style={{ height }}>
        {earlier !== 'none' && (
          <div className="sticky left-0 flex h-11 w-fit items-center gap-3 px-4 font-ui text-meta text-muted">
            {earlier === 'gone' ? (
              texts.earlierGone
            ) : (
              <Button
                size="small"
                busy={earlier === 'loading'}
                busyLabel={texts.loadingEarlier}
                onClick={onEarlier}
              >
                {texts.earlier}
              </Button>
            )}
            {earlier === 'failed' && <span role="alert">{texts.earlierFailed}</span>}
          </div>
        )}
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const line = lineOf(index)
          if (line === undefined) return null
          const command = commandOf(commands, line.id)
          return (
            <TerminalRow
              key={key}
              measure={wrap ? virtual.measureElement : undefined}
              index={index}
              top={start}
              line={line}
              previousTime={lineOf(index - 1)?.at}
              wrap={wrap}
              words={words}
              current={current?.id === line.id ? current.nth : undefined}
              {...(command?.id === line.id ? beside(command) : undefined)}
            />
          )
        })}
      </div>
      {running && <span aria-hidden="true" className="caret mb-2 ml-21.5 max-md:ml-5.5" />}
    </div>
  )
}
