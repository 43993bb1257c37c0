/** The files of a task: a tree beside the open file, and a search. The page's address names the open file and the line. */
import { RefreshCw, Search } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useSearchParams } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { isFault, reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { useMedia } from '../../../ui/hooks.ts'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { classes } from '../../../ui/classes.ts'
import { FilesLoading } from './FilesLoading.tsx'
import { FilesSearch } from './FilesSearch.tsx'
import { FilesTree } from './FilesTree.tsx'
import { FileView } from './FileView.tsx'
import { usePathInTaskQuery } from './filesApi.ts'
import { texts } from './texts.ts'

interface FilesPanelProps {
  readonly task: Task
  readonly visible: boolean
  /** The element that gets the panel's buttons; `null` when they are in the panel's own bar. */
  readonly tools: HTMLElement | null
}

export function FilesPanel({ task, visible, tools }: FilesPanelProps) {
  const { reading, readAgain } = useReading(task, visible)
  const { path, line, open, openLine } = useOpenFile()
  const [searching, setSearching] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const closeSearch = () => {
    setSearching(false)
    box.current?.focus()
  }
  const isWide = useMedia('(width >= 1280px)')
  const top = usePathInTaskQuery({ taskId: task.id, path: '', reading })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target instanceof HTMLInputElement) return
    event.preventDefault()
    setSearching(true)
  }
  if (top.data?.entries === undefined) {
    if (top.error === undefined) return <FilesLoading />
    const isPlain = !isFault(top.error, 'not_initialized')
    return (
      <div role="alert">
        <Empty
          title={isPlain ? texts.notRead : texts.notInitialized}
          action={
            <Button icon={<RefreshCw />} busy={top.isFetching} onClick={readAgain}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(top.error, texts.notRead)}
        </Empty>
      </div>
    )
  }
  const buttons = (
    <div className="flex flex-none items-center md:gap-0.5">
      <IconButton
        icon={Search}
        label={texts.search}
        shortcut="/"
        size="small"
        onClick={() => setSearching(true)}
      />
      <IconButton
        icon={RefreshCw}
        label={texts.refresh}
        size="small"
        busy={top.isFetching}
        onClick={readAgain}
      />
    </div>
  )
  const showsTree = isWide || path === null
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the key is for everything in the panel
    <div ref={box} tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none" onKeyDown={onKeyDown}>
      <div className="flex h-11 flex-none items-center gap-3 border-b border-line-soft pr-1 pl-4 text-meta text-muted md:h-9">
        <p role="status" className="min-w-0 flex-1 truncate">
          {top.error !== undefined
            ? reasonOf(top.error, texts.notRead)
            : top.data.from && texts.from(top.data.from)}
        </p>
        {tools === null && buttons}
      </div>
      {tools !== null && visible && createPortal(buttons, tools)}
      {searching && (
        <FilesSearch
          taskId={task.id}
          onClose={closeSearch}
          onChoose={(found) => {
            closeSearch()
            open(found)
          }}
        />
      )}
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] xl:grid-cols-[232px_minmax(0,1fr)]">
        <div
          className={classes(
            'min-h-0 flex-col overflow-y-auto p-2 text-ui xl:border-r xl:border-line-soft',
            showsTree ? 'flex' : 'hidden',
          )}
        >
          {top.data.entries.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyWhy}</Empty>
          ) : (
            <FilesTree taskId={task.id} reading={reading} current={path} onChoose={open} />
          )}
        </div>
        {path !== null && (
          <FileView
            key={path}
            taskId={task.id}
            path={path}
            reading={reading}
            line={line}
            onLine={openLine}
            onBack={isWide ? null : () => open(null)}
          />
        )}
        {path === null && isWide && <Empty title={texts.choose}>{texts.chooseWhy}</Empty>}
      </div>
    </div>
  )
}

/** A number that grows when the files may have changed, so that they are read again. It waits while the panel is hidden. */
function useReading({ changes, status }: Task, visible: boolean) {
  const [seen, setSeen] = useState({ changes, status, reading: 0 })
  if (visible && (seen.changes !== changes || seen.status !== status))
    setSeen({ changes, status, reading: seen.reading + 1 })
  return {
    reading: seen.reading,
    readAgain: () => setSeen((before) => ({ ...before, reading: before.reading + 1 })),
  }
}

function useOpenFile() {
  const [params, setParams] = useSearchParams()
  const write = (change: (next: URLSearchParams) => void) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        change(next)
        return next
      },
      { replace: true },
    )
  const line = Number(params.get('line'))
  return {
    path: params.get('file') || null,
    line: Number.isSafeInteger(line) && line > 0 ? line : null,
    open: (path: string | null) =>
      write((next) => {
        next.delete('line')
        if (path === null) next.delete('file')
        else next.set('file', path)
      }),
    openLine: (number: number) => write((next) => next.set('line', String(number))),
  }
}
