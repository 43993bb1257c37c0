/** The panel of changed files: the list with its tree, the search, and the comment that is being written. */
import { GitBranch } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import { useDispatch } from 'react-redux'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import { agentNamed } from '#domain/agents.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { diffLook } from '../../../state/persisted.ts'
import { usePersisted } from '../../../state/usePersisted.ts'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { Sheet } from '../../../ui/overlay/Dialog.tsx'
import { useMedia } from '../../../ui/hooks.ts'
import { notified } from '../../notifications/notifications.ts'
import { useSendMessage } from '../chat/composer/useSendMessage.ts'
import { ChangesTools, useFind, useWhitespace } from './ChangesTools.tsx'
import { DiffList } from './list/DiffList.tsx'
import { FileTree } from './FileTree.tsx'
import { maxMatches } from './diff/findInDiff.ts'
import { type DiffFile, readDiffs } from './diff/readDiffs.ts'
import { texts } from './texts.ts'
import { type Comment, useComment } from './useComment.ts'
import { type Folds, useFolds, useViewed } from './useFileMarks.ts'
import { type KnownLinesOfFiles, useKnownLines } from './list/useKnownLines.ts'
import type { Destination } from './list/useRowNavigation.ts'
import type { ChangesPanelProps } from '../replayContext.ts'
import { useWidth } from '../useWidth.ts'

const findKeys = {
  previous: shortcutOf('previousInChanges'),
  next: shortcutOf('nextInChanges'),
  close: shortcutOf('closeFindInChanges'),
}
/** The minimum width for a side-by-side view, in pixels. */
const leastForSplit = 640

export function ChangesPanel(props: ChangesPanelProps) {
  const { task, diff, reload, visible, tools, refreshing, onRefresh, onReading, notes } = props
  const [layout, setLayout] = usePersisted(diffLook)
  const [width, measured] = useWidth()
  // The list is measured too, because it is narrower than the panel when the tree is beside it.
  const [listWidth, listMeasured] = useWidth()
  const narrow = width > 0 && width < leastForSplit
  const withTree = useMedia('(width >= 1280px)')
  const [treeOpen, setTreeOpen] = useState(false)
  const [focusWithin, setFocusWithin] = useState(false)
  const [scrolled, setScrolled] = useState(false)
  const [current, setCurrent] = useState<string | null>(null)
  const [goTo, setGoTo] = useState<Destination | null>(null)

  const read = useMemo(() => readDiffs(diff.changedFiles), [diff.changedFiles])
  const { quiet, setQuiet, files } = useWhitespace(read)
  const viewed = useViewed(task.id)
  const folds = useFolds(viewed.viewed)
  const known = useKnownLines(task.id)
  const search = useSearch({
    files,
    known: known.known,
    folds,
    active: visible && focusWithin,
    onGo: setGoTo,
  })
  const comment = useComment(task.id)
  const sendComment = useSendComment(task, comment, reload, tools !== null)

  const searching = search.opened > 0
  const reading = scrolled || focusWithin || searching || comment.target !== null || known.known.size > 0
  useEffect(() => {
    onReading(reading)
    // Without the panel nobody reads, and newer changes must show it again.
    return () => onReading(false)
  }, [reading, onReading])

  const buttons = (
    <ChangesTools
      layout={layout}
      onLayout={setLayout}
      narrow={narrow}
      quiet={quiet}
      onQuiet={setQuiet}
      onFiles={() => setTreeOpen(true)}
      onFind={search.open}
      refreshing={refreshing}
      onRefresh={onRefresh}
    />
  )
  const tree = (
    <FileTree
      files={files}
      viewed={viewed.viewed}
      current={current}
      onChoose={(fileName) => {
        setTreeOpen(false)
        setGoTo({ fileName, key: null })
      }}
    />
  )
  return (
    <div
      ref={measured}
      className="@container flex min-h-0 flex-1 flex-col"
      onFocus={() => setFocusWithin(true)}
      onBlur={(event) => setFocusWithin(event.currentTarget.contains(event.relatedTarget))}
    >
      <Header diff={diff} files={files} viewed={viewed.viewed}>
        {tools === null && buttons}
      </Header>
      {tools !== null && visible && createPortal(buttons, tools)}
      {searching && <Find search={search} />}
      {quiet && (
        <p role="status" className="flex-none border-b border-line-soft px-4 py-1.5 text-meta text-muted">
          {texts.hidden(files.reduce((sum, file) => sum + file.hidden, 0))}
        </p>
      )}
      {notes}
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] xl:grid-cols-[232px_minmax(0,1fr)]">
        {withTree && <div className="flex min-h-0 flex-col border-r border-line-soft">{tree}</div>}
        <div ref={listMeasured} className="flex min-h-0 min-w-0 flex-col">
          <DiffList
            files={files}
            split={layout === 'split' && !narrow}
            width={listWidth}
            folds={folds}
            viewed={viewed}
            known={known}
            needle={search.find.needle}
            match={searching ? search.find.match : null}
            goTo={goTo}
            comment={comment}
            agent={agentNamed(task.agent).label}
            onSend={sendComment}
            onCurrent={setCurrent}
            onScrolled={setScrolled}
            visible={visible}
          />
        </div>
      </div>
      {!withTree && (
        <Sheet open={treeOpen} onClose={() => setTreeOpen(false)} label={texts.files}>
          {tree}
        </Sheet>
      )}
    </div>
  )
}

interface SearchOf {
  readonly files: readonly DiffFile[]
  readonly known: KnownLinesOfFiles['known']
  readonly folds: Folds
  /** Whether the panel's shortcuts apply: only with the focus in it, since Ctrl F is also the key of other searches and of the browser's own. */
  readonly active: boolean
  readonly onGo: (to: Destination) => void
}

function useSearch({ files, known, folds, active, onGo }: SearchOf) {
  // How many times the search was opened since it was last closed; 0 while it is closed.
  const [opened, setOpened] = useState(0)
  const find = useFind(files, known, opened > 0)
  const step = (by: 1 | -1) => {
    const match = find.step(by)
    if (match === null) return
    folds.fold(match.fileName, false)
    folds.request(match.fileName)
    onGo({ ...match })
  }
  const open = () => setOpened((before) => before + 1)
  const close = () => setOpened(0)
  useAction('findInChanges', open, active)
  const mayStep = active && opened > 0
  useAction('closeFindInChanges', close, mayStep)
  useAction('nextInChanges', () => step(1), mayStep)
  useAction('previousInChanges', () => step(-1), mayStep)
  return { find, opened, step, open, close }
}

function useSendComment(task: Task, comment: Comment, reload: () => void, chatIsShown: boolean) {
  const dispatch = useDispatch()
  const { send } = useSendMessage(task.id, reload)
  return (message: string) => {
    send(message, false, task.agent)
    comment.write('')
    if (!chatIsShown) dispatch(notified('info', texts.sent(agentNamed(task.agent).label)))
  }
}

interface HeaderProps {
  readonly diff: GitDiff
  readonly files: readonly DiffFile[]
  readonly viewed: ReadonlySet<string>
  readonly children: ReactNode
}

function Header({ diff, files, viewed, children }: HeaderProps) {
  const { changedFiles, currentBranch, commitComparison, baseBranch } = diff
  const viewedCount = files.filter(({ hash }) => viewed.has(hash)).length
  return (
    <div className="flex h-11 flex-none items-center gap-1 border-b border-line-soft pr-1 pl-4 md:gap-3 text-meta whitespace-nowrap text-muted md:h-9">
      <h2 className="min-w-0 truncate text-ui font-medium text-text @md:flex-none">
        {texts.title(changedFiles.length)}
      </h2>
      <span className="hidden min-w-0 items-center gap-1.25 @md:inline-flex">
        <GitBranch className="size-3" />
        <span className="truncate mono" title={currentBranch}>
          {currentBranch}
        </span>
      </span>
      <span className="hidden @3xl:inline">
        {texts.compared(commitComparison.ahead, commitComparison.behind, baseBranch)}
      </span>
      <span className="flex-1" />
      <span className="hidden pr-2 @xl:inline">{texts.viewedOf(viewedCount, files.length)}</span>
      {children}
    </div>
  )
}

function Find({ search }: { readonly search: ReturnType<typeof useSearch> }) {
  const { find, opened, step, close } = search
  const result =
    find.count === 0 ? texts.notFound : texts.found(find.at + 1, find.count, find.count >= maxMatches)
  return (
    <SearchBar
      // A new key on each opening remounts the bar, which then selects its text.
      key={opened}
      names={texts.find}
      keys={findKeys}
      words={find.words}
      onWords={find.setWords}
      result={find.words === '' ? '' : result}
      nothing={find.count === 0}
      onStep={step}
      onClose={close}
    />
  )
}
