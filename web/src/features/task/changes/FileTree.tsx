/** The changed files by folder, with a filter. The tree is one Tab stop: the up and down keys move, right expands and left collapses. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Check, ChevronDown, Search } from 'lucide-react'
import { memo, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { classes } from '../../../ui/classes.ts'
import { useMedia } from '../../../ui/hooks.ts'
import { LineCounts } from '../../../ui/status/LineCounts.tsx'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import { FileBadge } from './FileBadge.tsx'
import { splitName, type DiffFile } from './diff/readDiffs.ts'
import { texts } from './texts.ts'

interface FileTreeProps {
  readonly files: readonly DiffFile[]
  readonly viewed: ReadonlySet<string>
  /** The name of the file at the top of the visible changes. */
  readonly current: string | null
  readonly onChoose: (fileName: string) => void
}

/** A tree with up to this many rows is rendered as a whole; of a longer tree, only the visible rows are rendered. */
const wholeUpTo = 60

export const FileTree = memo(function FileTree({ files, viewed, current, onChoose }: FileTreeProps) {
  const [filter, setFilter] = useState('')
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => treeRows(files, filter, folded), [files, filter, folded])
  const box = useRef<HTMLDivElement>(null)
  const rowHeight = useMedia('(width >= 768px)') ? 28 : 44
  const currentIndex = rows.findIndex((row) => nameOf(row) === current)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  const visibleRows =
    rows.length <= wholeUpTo
      ? rows.map((_, index) => ({ index, start: index * rowHeight }))
      : list.getVirtualItems()
  // A rotated phone changes the heights of rows, so they are measured again.
  useLayoutEffect(() => list.measure(), [list, rowHeight])
  // When another file is read in the list, the tree scrolls to that file.
  useLayoutEffect(() => {
    if (currentIndex !== -1 && rows.length > 0) list.scrollToIndex(currentIndex, { align: 'auto' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another file moves the tree, not what is done in it
  }, [current])

  const open = (row: TreeRow, isFolded: boolean) => {
    if (row.kind === 'file') return onChoose(row.file.name)
    const next = new Set(folded)
    if (isFolded) next.add(row.folder)
    else next.delete(row.folder)
    setFolded(next)
  }
  const keys = useKeys({
    rows,
    currentIndex,
    box,
    onScrollTo: (index) => list.scrollToIndex(index, { align: 'auto' }),
    onOpen: open,
  })

  return (
    <nav aria-label={texts.files} className="flex min-h-0 flex-1 flex-col p-2 text-ui">
      <Filter filter={filter} onFilter={setFilter} />
      {rows.length === 0 && <p className="px-2 py-1 text-muted">{texts.noFile}</p>}
      <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
        {rows.length > 0 && (
          <div
            role="tree"
            aria-label={texts.files}
            className="relative"
            style={{ height: rows.length * rowHeight }}
          >
            {visibleRows.map(({ index, start }) => {
              const row = rows[index]
              if (row === undefined) return null
              return (
                <Row
                  key={nameOf(row)}
                  row={row}
                  index={index}
                  count={rows.length}
                  start={start}
                  isCurrent={index === currentIndex}
                  reachable={index === keys.reachable}
                  isViewed={row.kind === 'file' && viewed.has(row.file.hash)}
                  onClick={() => {
                    keys.setAt(nameOf(row))
                    open(row, row.kind === 'folder' && !row.folded)
                  }}
                  onKeyDown={(event) => keys.onKeyDown(event, row, index)}
                />
              )
            })}
          </div>
        )}
      </div>
    </nav>
  )
})

interface KeysIn {
  readonly rows: readonly TreeRow[]
  readonly currentIndex: number
  readonly box: RefObject<HTMLElement | null>
  readonly onScrollTo: (index: number) => void
  readonly onOpen: (row: TreeRow, isFolded: boolean) => void
}

function useKeys({ rows, currentIndex, box, onScrollTo, onOpen }: KeysIn) {
  // The name of the row that Tab reaches: the last clicked or moved to; `null` for the current file's row.
  const [at, setAt] = useState<string | null>(null)
  const reachable = Math.max(0, at === null ? currentIndex : rows.findIndex((row) => nameOf(row) === at))
  // A ref, because the row to focus may not be rendered until the next render.
  const getsFocus = useRef(false)
  const walkTo = (index: number) => {
    const row = rows[index]
    if (row === undefined) return
    setAt(nameOf(row))
    onScrollTo(index)
    getsFocus.current = true
  }
  useLayoutEffect(() => {
    if (!getsFocus.current) return
    const row = box.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')
    if (row === null || row === undefined) return
    getsFocus.current = false
    row.focus({ preventScroll: true })
  })
  const onKeyDown = (event: KeyboardEvent, row: TreeRow, index: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const last = rows.length - 1
    const isFolder = row.kind === 'folder'
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last }[event.key]
    if (next !== undefined) walkTo(Math.min(last, Math.max(0, next)))
    else if (event.key === 'Enter' || event.key === ' ') onOpen(row, isFolder && !row.folded)
    else if (event.key === 'ArrowRight' && isFolder) onOpen(row, false)
    else if (event.key === 'ArrowLeft' && isFolder) onOpen(row, true)
    else if (event.key === 'ArrowLeft')
      walkTo(rows.findLastIndex((other, n) => n < index && other.kind === 'folder'))
    else return
    event.preventDefault()
  }
  return { reachable, setAt, onKeyDown }
}

interface FilterProps {
  readonly filter: string
  readonly onFilter: (filter: string) => void
}

function Filter({ filter, onFilter }: FilterProps) {
  return (
    <label className="mb-2 flex h-11 flex-none items-center gap-2 rounded-control border border-control px-2 has-focus-visible:outline-2 has-focus-visible:outline-accent md:h-7">
      <Search className="size-3.5 text-muted" />
      <input
        type="search"
        aria-label={texts.filter}
        placeholder={texts.filter}
        value={filter}
        onChange={(event) => onFilter(event.target.value)}
        className="min-w-0 flex-1 bg-transparent outline-none"
      />
    </label>
  )
}

interface RowProps {
  readonly row: TreeRow
  readonly index: number
  readonly count: number
  readonly start: number
  readonly isCurrent: boolean
  readonly reachable: boolean
  readonly isViewed: boolean
  readonly onClick: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

function Row(props: RowProps) {
  const { row, index, isCurrent } = props
  const isFolder = row.kind === 'folder'
  return (
    <div
      role="treeitem"
      aria-level={isFolder || splitName(row.file.name).folder === '' ? 1 : 2}
      aria-selected={isCurrent}
      aria-expanded={isFolder ? !row.folded : undefined}
      aria-setsize={props.count}
      aria-posinset={index + 1}
      tabIndex={props.reachable ? 0 : -1}
      onClick={props.onClick}
      onKeyDown={props.onKeyDown}
      style={{ transform: `translateY(${props.start}px)` }}
      className={classes(
        'focus-inset absolute top-0 left-0 flex h-11 w-full cursor-pointer items-center gap-1.75 rounded-control pr-2 md:h-7',
        isFolder ? 'pl-1.5 text-muted' : 'pl-4',
        isCurrent ? 'bg-raised' : 'hover:bg-raised',
      )}
    >
      {isFolder ? (
        <>
          <ChevronDown className={classes('size-3.5 transition-transform', row.folded && '-rotate-90')} />
          <span className="min-w-0 truncate" title={row.folder}>
            <HiddenMarks text={row.folder === '' ? texts.topFolder : row.folder.replace(/\/$/, '')} />
          </span>
          {row.folded && <span className="text-meta">{row.files}</span>}
        </>
      ) : (
        <FileRow file={row.file} viewed={props.isViewed} />
      )}
    </div>
  )
}

function FileRow({ file, viewed }: { readonly file: DiffFile; readonly viewed: boolean }) {
  const { status, additions, deletions } = file.file
  return (
    <>
      <FileBadge status={status} />
      <span className={classes('min-w-0 flex-1 truncate', viewed && 'text-muted')} title={file.name}>
        <HiddenMarks text={splitName(file.name).name} />
      </span>
      {viewed && <Check className="size-3.5 text-muted" role="img" aria-label={texts.viewed} />}
      <LineCounts added={additions} deleted={deletions} small />
    </>
  )
}

/** The name of a row. A folder's name ends with a slash, so that no file has the same name. */
function nameOf(row: TreeRow): string {
  return row.kind === 'file' ? row.file.name : `${row.folder}/`
}

type TreeRow =
  | { readonly kind: 'folder'; readonly folder: string; readonly folded: boolean; readonly files: number }
  | { readonly kind: 'file'; readonly file: DiffFile }

/**
 * The changed files as rows of a tree: collapsible folders and their files, in the order of the files. While a filter is active, no folder is
 * collapsed.
 */
function treeRows(
  files: readonly DiffFile[],
  filter: string,
  folded: ReadonlySet<string>,
): readonly TreeRow[] {
  const needle = filter.trim().toLowerCase()
  const folders = new Map<string, DiffFile[]>()
  for (const file of files) {
    if (!file.name.toLowerCase().includes(needle)) continue
    const { folder } = splitName(file.name)
    const inside = folders.get(folder)
    if (inside === undefined) folders.set(folder, [file])
    else inside.push(file)
  }
  return [...folders].flatMap(([folder, inside]): readonly TreeRow[] => {
    const isFolded = needle === '' && folded.has(folder)
    const rows = inside.map((file): TreeRow => ({ kind: 'file', file }))
    // If no file is in a folder, no folder row is needed.
    if (folder === '' && folders.size === 1) return rows
    return [{ kind: 'folder', folder, folded: isFolded, files: inside.length }, ...(isFolded ? [] : rows)]
  })
}
