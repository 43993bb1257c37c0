/** The changed files by folder, with a filter. One stop for Tab; the arrow keys walk, right and left unfold and fold. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Check, ChevronDown, Search } from 'lucide-react'
import { memo, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { classes } from '../../../ui/classes.ts'
import { Count } from '../../../ui/status/Count.tsx'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import { FileBadge } from './FileBadge.tsx'
import { splitName, type DiffFile } from './diff/readDiffs.ts'
import { texts } from './texts.ts'
import { treeRows, type TreeRow } from './diff/treeRows.ts'

interface FileTreeProps {
  readonly files: readonly DiffFile[]
  /** Hashes of what was looked at. */
  readonly viewed: ReadonlySet<string>
  /** The file whose lines are at the top of the list. */
  readonly current: string | null
  readonly onChoose: (fileName: string) => void
}

const rowHeight = 28
/** So many rows are all in the page; of more, only those in sight. */
const wholeUpTo = 60

export const FileTree = memo(function FileTree({ files, viewed, current, onChoose }: FileTreeProps) {
  const [filter, setFilter] = useState('')
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => treeRows(files, filter, folded), [files, filter, folded])
  const box = useRef<HTMLDivElement>(null)
  // Where the arrow keys are: a row by its name, or the current file.
  const [at, setAt] = useState<string | null>(null)
  const currentIndex = rows.findIndex((row) => nameOf(row) === current)
  const reachable = Math.max(0, at === null ? currentIndex : rows.findIndex((row) => nameOf(row) === at))
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  const shown =
    rows.length <= wholeUpTo
      ? rows.map((_, index) => ({ index, start: index * rowHeight }))
      : list.getVirtualItems()
  // What is read is in sight here too.
  useLayoutEffect(() => {
    if (currentIndex !== -1 && rows.length > 0) list.scrollToIndex(currentIndex, { align: 'auto' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another file moves the tree, not what is done in it
  }, [current])

  const fold = (folder: string, isFolded: boolean) => {
    const next = new Set(folded)
    if (isFolded) next.add(folder)
    else next.delete(folder)
    setFolded(next)
  }
  const walkTo = (index: number) => {
    const row = rows[index]
    if (row === undefined) return
    setAt(nameOf(row))
    list.scrollToIndex(index, { align: 'auto' })
    wanted.current = true
  }
  // The row that is walked to may come into the page only now.
  const wanted = useRef(false)
  useLayoutEffect(() => {
    if (!wanted.current) return
    const row = box.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')
    if (row === null || row === undefined) return
    wanted.current = false
    row.focus({ preventScroll: true })
  })
  const onKeyDown = (event: KeyboardEvent, row: TreeRow, index: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const last = rows.length - 1
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last }[event.key]
    if (next !== undefined) walkTo(Math.min(last, Math.max(0, next)))
    else if (event.key === 'Enter' || event.key === ' ') {
      if (row.kind === 'file') onChoose(row.file.name)
      else fold(row.folder, !row.folded)
    } else if (event.key === 'ArrowRight' && row.kind === 'folder') fold(row.folder, false)
    else if (event.key === 'ArrowLeft' && row.kind === 'folder') fold(row.folder, true)
    else if (event.key === 'ArrowLeft')
      walkTo(rows.findLastIndex((other, n) => n < index && other.kind === 'folder'))
    else return
    event.preventDefault()
  }

  return (
    <nav aria-label={texts.files} className="flex min-h-0 flex-1 flex-col p-2 text-ui">
      <label className="mb-2 flex h-11 flex-none items-center gap-2 rounded-control border border-control px-2 has-focus-visible:outline-2 has-focus-visible:outline-accent md:h-7">
        <Search className="size-3.5 text-muted" />
        <input
          type="search"
          aria-label={texts.filter}
          placeholder={texts.filter}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="min-w-0 flex-1 bg-transparent outline-none"
        />
      </label>
      {rows.length === 0 && <p className="px-2 py-1 text-muted">{texts.noFile}</p>}
      <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
        {rows.length > 0 && (
          <div
            role="tree"
            aria-label={texts.files}
            className="relative"
            style={{ height: rows.length * rowHeight }}
          >
            {shown.map(({ index, start }) => {
              const row = rows[index]
              if (row === undefined) return null
              return (
                <div
                  key={nameOf(row)}
                  role="treeitem"
                  aria-level={row.kind === 'folder' || splitName(row.file.name).folder === '' ? 1 : 2}
                  aria-selected={index === currentIndex}
                  aria-expanded={row.kind === 'folder' ? !row.folded : undefined}
                  aria-setsize={rows.length}
                  aria-posinset={index + 1}
                  tabIndex={index === reachable ? 0 : -1}
                  onClick={() => {
                    setAt(nameOf(row))
                    if (row.kind === 'file') onChoose(row.file.name)
                    else fold(row.folder, !row.folded)
                  }}
                  onKeyDown={(event) => onKeyDown(event, row, index)}
                  style={{ transform: `translateY(${start}px)` }}
                  className={classes(
                    'focus-inset absolute top-0 left-0 flex h-7 w-full cursor-pointer items-center gap-1.75 rounded-control pr-2',
                    row.kind === 'folder' ? 'pl-1.5 text-muted' : 'pl-4',
                    index === currentIndex ? 'bg-raised' : 'hover:bg-raised',
                  )}
                >
                  {row.kind === 'folder' ? (
                    <>
                      <ChevronDown
                        className={classes('size-3.5 transition-transform', row.folded && '-rotate-90')}
                      />
                      <span className="min-w-0 truncate" title={row.folder}>
                        <HiddenMarks
                          text={row.folder === '' ? texts.topFolder : row.folder.replace(/\/$/, '')}
                        />
                      </span>
                      {row.folded && <span className="text-meta">{row.files}</span>}
                    </>
                  ) : (
                    <FileRow file={row.file} viewed={viewed.has(row.file.hash)} />
                  )}
                </div>
              )
            })}
          </div>
        )}
      </div>
    </nav>
  )
})

function FileRow({ file, viewed }: { readonly file: DiffFile; readonly viewed: boolean }) {
  const { status, additions, deletions } = file.file
  return (
    <>
      <FileBadge status={status} />
      <span className={classes('min-w-0 flex-1 truncate', viewed && 'text-muted')} title={file.name}>
        <HiddenMarks text={splitName(file.name).name} />
      </span>
      {viewed && <Check className="size-3.5 text-muted" role="img" aria-label={texts.viewed} />}
      <Count added={additions} deleted={deletions} small />
    </>
  )
}

/** What a row is known by; no file is called like a folder. */
function nameOf(row: TreeRow): string {
  return row.kind === 'file' ? row.file.name : `${row.folder}/`
}
