/** The folders and files as a tree. A folder is read when it is opened. The tree is one Tab stop, with the keys that ARIA prescribes for trees. */
import { ChevronDown, CornerDownRight, File, FolderGit } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react'
import type { FileEntry } from '#domain/api/taskFiles.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { classes } from '../../../ui/classes.ts'
import { useStable } from '../../../ui/hooks.ts'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import { toggled } from '../toggled.ts'
import { usePathInTaskQuery } from './filesApi.ts'
import { shownName, sizeText, texts } from './texts.ts'

interface FilesTreeProps {
  readonly taskId: string
  readonly reading: number
  /** The path of the open file. */
  readonly current: string | null
  readonly onChoose: (path: string) => void
}

interface Tree extends FilesTreeProps {
  readonly opened: ReadonlySet<string>
  readonly onToggle: (path: string) => void
  /** The path of the row that Tab reaches; `null` for the first row. */
  readonly reached: string | null
  readonly onReach: (path: string) => void
  readonly onGone: (path: string) => void
}

export function FilesTree(props: FilesTreeProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => foldersOf(props.current))
  const [reached, setReached] = useState<string | null>(null)
  const onToggle = (path: string) => setOpened((before) => toggled(before, path))
  const onGone = useStable((path: string) => setReached((at) => (at === path ? null : at)))
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { target, currentTarget } = event
    if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return
    const rows = [...currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')]
    const at = rows.indexOf(target)
    const isOpen = target.getAttribute('aria-expanded')
    const parent = rows.findLastIndex((row, index) => index < at && levelOf(row) < levelOf(target))
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (next !== undefined) rows[next]?.focus()
    else if (event.key === 'Enter' || event.key === ' ') target.click()
    else if (event.key === 'ArrowRight' && isOpen === 'false') target.click()
    else if (event.key === 'ArrowRight' && isOpen === 'true') rows[at + 1]?.focus()
    else if (event.key === 'ArrowLeft' && isOpen === 'true') target.click()
    else if (event.key === 'ArrowLeft') rows[parent]?.focus()
    else return
    event.preventDefault()
  }
  return (
    <div role="tree" aria-label={texts.title} onKeyDown={onKeyDown}>
      <Folder {...props} {...{ opened, onToggle, reached, onGone }} onReach={setReached} path="" level={1} />
    </div>
  )
}

function Folder({ path, level, ...tree }: Tree & { readonly path: string; readonly level: number }) {
  const { taskId, reading, opened, reached } = tree
  const { data, error } = usePathInTaskQuery({ taskId, path, reading })
  const { entries = [], leftOut = 0 } = data ?? {}
  const says = (text: string) => (
    <Row level={level} label={text}>
      <span className="min-w-0 py-1 wrap-anywhere text-muted">{text}</span>
    </Row>
  )
  return (
    <>
      {entries.map((entry, index) => {
        const at = path === '' ? entry.name : `${path}/${entry.name}`
        const isOpen = opened.has(at)
        return (
          // Names whose bytes are not UTF-8 may look the same, so their index is part of the key.
          <div role="none" key={entry.opens ? at : `${index}/${at}`}>
            <Entry
              entry={entry}
              path={at}
              level={level}
              isOpen={isOpen}
              isReached={reached === at || (reached === null && level === 1 && index === 0)}
              tree={tree}
            />
            {entry.kind === 'folder' && entry.opens && isOpen && (
              <Folder {...tree} path={at} level={level + 1} />
            )}
          </div>
        )
      })}
      {data === undefined && says(error === undefined ? texts.loading : reasonOf(error, texts.notRead))}
      {data !== undefined && entries.length === 0 && says(texts.emptyFolder)}
      {leftOut > 0 && says(texts.leftOut(leftOut))}
    </>
  )
}

interface EntryProps {
  readonly entry: FileEntry
  readonly path: string
  readonly level: number
  readonly isOpen: boolean
  readonly isReached: boolean
  readonly tree: Tree
}

function Entry({ entry, path, level, isOpen, isReached, tree }: EntryProps) {
  const { name, kind, size, target, opens } = entry
  const { onGone, onReach, onToggle, onChoose, current } = tree
  useEffect(() => () => onGone(path), [onGone, path])
  const isFolder = kind === 'folder'
  const Icon = {
    folder: ChevronDown,
    file: File,
    link: CornerDownRight,
    repository: FolderGit,
    other: File,
  }[kind]
  const says = [texts.kinds[kind], shownName(target ?? ''), size === null ? '' : sizeText(size)]
  return (
    <Row
      level={level}
      label={[shownName(name), ...says].filter((part) => part !== '').join(', ')}
      title={shownName(name)}
      expanded={isFolder && opens ? isOpen : undefined}
      selected={path === current}
      reached={isReached}
      onFocus={() => onReach(path)}
      onClick={() => {
        if (opens && isFolder) onToggle(path)
        else if (opens) onChoose(path)
      }}
    >
      <Icon
        className={classes(
          'size-3.5 flex-none text-muted transition-transform',
          isFolder && !isOpen && '-rotate-90',
        )}
      />
      <span className={classes('min-w-0 truncate', !opens && 'text-muted')}>
        <HiddenMarks text={shownName(name)} />
      </span>
      {target !== null && (
        <span className="min-w-0 flex-1 truncate text-meta text-muted">
          → <HiddenMarks text={shownName(target)} />
        </span>
      )}
    </Row>
  )
}

interface RowProps {
  readonly level: number
  readonly label: string
  readonly title?: string
  readonly expanded?: boolean | undefined
  readonly selected?: boolean
  readonly reached?: boolean
  readonly onFocus?: () => void
  readonly onClick?: () => void
  readonly children: ReactNode
}

function Row({
  level,
  label,
  title,
  expanded,
  selected = false,
  reached = false,
  onFocus,
  onClick,
  children,
}: RowProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the tree handles keys
    <div
      role="treeitem"
      aria-level={level}
      aria-label={label}
      aria-expanded={expanded}
      aria-selected={selected}
      tabIndex={reached ? 0 : -1}
      title={title}
      onFocus={onFocus}
      onClick={onClick}
      style={{ paddingLeft: 6 + 14 * Math.min(level - 1, 12) }}
      className={classes(
        'focus-inset flex min-h-11 w-full items-center gap-1.75 rounded-control pr-2 md:min-h-7',
        onClick !== undefined && 'cursor-pointer',
        selected ? 'bg-raised' : onClick !== undefined && 'hover:bg-raised',
      )}
    >
      {children}
    </div>
  )
}

const levelOf = (row: HTMLElement): number => Number(row.getAttribute('aria-level'))

/** The folders that lead to a file. */
function foldersOf(path: string | null): ReadonlySet<string> {
  const names = (path ?? '').split('/').slice(0, -1)
  return new Set(names.map((_, index) => names.slice(0, index + 1).join('/')))
}
