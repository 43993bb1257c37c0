/** Changes that can be read: the list with its tree, what is looked for in it, and the comment that is written on it. */
import { GitBranch } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import { useDispatch } from 'react-redux'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import { agentNamed } from '#domain/agents.ts'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { diffLook, usePersisted } from '../../../state/persisted.ts'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { Sheet } from '../../../ui/overlay/Dialog.tsx'
import { useMedia } from '../../../ui/hooks.ts'
import { notified } from '../../notifications/notifications.ts'
import { useSendMessage } from '../chat/composer/useSendMessage.ts'
import { ChangesTools } from './ChangesTools.tsx'
import { DiffList } from './list/DiffList.tsx'
import { FileTree } from './FileTree.tsx'
import { mostMatches } from './diff/findInDiff.ts'
import { commentMessage } from './quote.ts'
import { quietDiffs, readDiffs } from './diff/readDiffs.ts'
import { texts } from './texts.ts'
import { useComment } from './useComment.ts'
import { useFind } from './useFind.ts'
import { useFolds, useViewed } from './useFileMarks.ts'
import { useKnownLines } from './list/useKnownLines.ts'
import type { Destination } from './list/useRowNavigation.ts'
import { useWidth } from './list/useRowWindow.ts'

interface ChangesPanelProps {
  readonly task: Task
  readonly diff: GitDiff
  /** Reads the task's history again. */
  readonly reload: () => void
  /** Whether the panel is the one that is looked at. */
  readonly shown: boolean
  /** Where its buttons stand; `null`: in its own bar. */
  readonly tools: HTMLElement | null
  readonly refreshing: boolean
  readonly onRefresh: () => void
  /** Told whether somebody is at work in what is shown: then nothing may move. */
  readonly onReading: (reading: boolean) => void
  /** What there is to say above the list. */
  readonly notes: ReactNode
}

const findKeys = {
  previous: shortcutOf('previousInChanges'),
  next: shortcutOf('nextInChanges'),
  close: shortcutOf('closeFindInChanges'),
}
/** Pixels that two sides need. */
const leastForSplit = 640

export function ChangesPanel(props: ChangesPanelProps) {
  const { task, diff, reload, shown, tools, refreshing, onRefresh, onReading, notes } = props
  const dispatch = useDispatch()
  const [look, setLook] = usePersisted(diffLook)
  const [width, measured] = useWidth()
  const narrow = width > 0 && width < leastForSplit
  const withTree = useMedia('(width >= 1280px)')
  const [quiet, setQuiet] = useState(false)
  const [treeOpen, setTreeOpen] = useState(false)

  const read = useMemo(() => readDiffs(diff.changedFiles), [diff.changedFiles])
  const files = useMemo(() => (quiet ? quietDiffs(read) : read), [read, quiet])
  const hidden = files.reduce((sum, file) => sum + file.hidden, 0)
  const viewed = useViewed(task.id)
  const viewedCount = files.filter(({ hash }) => viewed.viewed.has(hash)).length

  const folds = useFolds(viewed.viewed)
  const known = useKnownLines(task.id)
  const [current, setCurrent] = useState<string | null>(null)
  const [goTo, setGoTo] = useState<Destination | null>(null)

  // How often it was asked for: 0 while it is closed.
  const [finding, setFinding] = useState(0)
  const find = useFind(files, known.known, finding > 0)
  const step = (by: 1 | -1) => {
    const match = find.step(by)
    if (match === null) return
    folds.fold(match.fileName, false)
    folds.ask(match.fileName)
    setGoTo({ ...match })
  }
  const [focusWithin, setFocusWithin] = useState(false)
  const openFind = () => setFinding((before) => before + 1)
  // Elsewhere on the page the browser's own search is the better one.
  useAction('findInChanges', openFind, shown && focusWithin)
  const closeFind = () => setFinding(0)
  const mayStep = shown && focusWithin && finding > 0
  useAction('closeFindInChanges', closeFind, mayStep)
  useAction('nextInChanges', () => step(1), mayStep)
  useAction('previousInChanges', () => step(-1), mayStep)

  const comment = useComment(task.id)
  const { send } = useSendMessage(task.id, reload)
  const sendComment = () => {
    if (comment.target === null) return
    const { fileName, lines } = comment.target
    send(commentMessage(fileName, lines, comment.text), false, task.agent)
    comment.write('')
    // Beside the chat it is seen there.
    if (tools === null) dispatch(notified('info', texts.sent(agentNamed(task.agent).label)))
  }

  const [scrolled, setScrolled] = useState(false)
  const reading = scrolled || focusWithin || finding > 0 || comment.target !== null || known.known.size > 0
  useEffect(() => onReading(reading), [reading, onReading])

  const buttons = (
    <ChangesTools
      look={look}
      onLook={setLook}
      narrow={narrow}
      quiet={quiet}
      onQuiet={setQuiet}
      onFiles={() => setTreeOpen(true)}
      onFind={openFind}
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
      <div className="flex h-11 flex-none items-center gap-1 border-b border-line-soft pr-1 pl-4 md:gap-3 text-meta whitespace-nowrap text-muted md:h-9">
        <h2 className="min-w-0 truncate text-ui font-medium text-text @md:flex-none">
          {texts.title(diff.changedFiles.length)}
        </h2>
        <span className="hidden min-w-0 items-center gap-1.25 @md:inline-flex">
          <GitBranch className="size-3" />
          <span className="truncate mono" title={diff.currentBranch}>
            {diff.currentBranch}
          </span>
        </span>
        <span className="hidden @3xl:inline">
          {texts.compared(diff.commitComparison.ahead, diff.commitComparison.behind, diff.baseBranch)}
        </span>
        <span className="flex-1" />
        <span className="hidden pr-2 @xl:inline">{texts.viewedOf(viewedCount, files.length)}</span>
        {tools === null && buttons}
      </div>
      {tools !== null && shown && createPortal(buttons, tools)}
      {finding > 0 && (
        <SearchBar
          // Asked for again, what is in it is selected.
          key={finding}
          names={texts.find}
          keys={findKeys}
          words={find.wanted}
          onWords={find.setWanted}
          said={
            find.wanted === ''
              ? ''
              : find.count === 0
                ? texts.notFound
                : texts.found(find.at + 1, find.count, find.count >= mostMatches)
          }
          nothing={find.count === 0}
          onStep={step}
          onClose={closeFind}
        />
      )}
      {quiet && (
        <p role="status" className="flex-none border-b border-line-soft px-4 py-1.5 text-meta text-muted">
          {texts.hidden(hidden)}
        </p>
      )}
      {notes}
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] xl:grid-cols-[232px_minmax(0,1fr)]">
        {withTree && <div className="flex min-h-0 flex-col border-r border-line-soft">{tree}</div>}
        <ListFrame>
          {(listWidth) => (
            <DiffList
              files={files}
              split={look === 'split' && !narrow}
              width={listWidth}
              folds={folds}
              viewed={viewed}
              known={known}
              sought={find.sought}
              match={finding > 0 ? find.match : null}
              goTo={goTo}
              comment={comment}
              agent={agentNamed(task.agent).label}
              onSend={sendComment}
              onCurrent={setCurrent}
              onScrolled={setScrolled}
              shown={shown}
            />
          )}
        </ListFrame>
      </div>
      {!withTree && (
        <Sheet open={treeOpen} onClose={() => setTreeOpen(false)} label={texts.files}>
          {tree}
        </Sheet>
      )}
    </div>
  )
}

/** The list's own width, which is not the panel's where the tree stands beside it. */
function ListFrame({ children }: { readonly children: (width: number) => ReactNode }) {
  const [width, measured] = useWidth()
  return (
    <div ref={measured} className="flex min-h-0 min-w-0 flex-col">
      {children(width)}
    </div>
  )
}
