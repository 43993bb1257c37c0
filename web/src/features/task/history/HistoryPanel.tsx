/** The history of a task: a section for each turn, in it a row for each thing that happened. A row shows the task as it was then. */
import { FileDown, Play, Search, ShieldCheck } from 'lucide-react'
import { useDeferredValue, useMemo, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { useParams } from 'react-router-dom'
import { Button } from '../../../ui/form/Button.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Progress } from '../../../ui/status/Progress.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { useReplayed } from '../replayed.ts'
import { texts as replayTexts } from '../savedReplay/texts.ts'
import { useSaveReplay } from '../savedReplay/useSaveReplay.ts'
import { AuditDialog } from './AuditDialog.tsx'
import type { HistorySession, HistoryView } from './historySession.ts'
import { filters, shownRows, type Filter } from './shownRows.ts'
import { texts } from './texts.ts'
import { Timeline, type ShowIn } from './Timeline.tsx'
import { useHistory } from './useHistory.ts'

interface HistoryPanelProps {
  readonly session: HistorySession
  readonly shown: boolean
  /** Where its buttons go; `null`: into its own bar. */
  readonly tools: HTMLElement | null
  /** Opens another panel at the moment that is shown. */
  readonly onShowIn: ShowIn
}

export function HistoryPanel({ session, shown, tools, onShowIn }: HistoryPanelProps) {
  const sections = useHistory(session, (view) => view.sections)
  const load = useHistory(session, (view) => view.load)
  const [filter, setFilter] = useState<Filter>('all')
  const [search, setSearch] = useState<string | null>(null)
  const isSaved = useReplayed()?.isSaved === true
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const words = useDeferredValue(search ?? '')
  const rows = useMemo(
    () => shownRows(sections, { filter, words, folded }),
    [sections, filter, words, folded],
  )
  const found = rows.filter(({ kind }) => kind === 'row').length
  const buttons = (
    <>
      <IconButton
        icon={Search}
        label={texts.find.label}
        size="small"
        aria-expanded={search !== null}
        onClick={() => setSearch(search === null ? '' : null)}
      />
      <IconButton icon={Play} label={texts.replayFromStart} size="small" onClick={() => session.play()} />
      {!isSaved && <SaveButtons session={session} />}
    </>
  )
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-11 flex-none items-center gap-2 overflow-x-auto border-b border-line-soft px-4 max-md:gap-0 max-md:pr-0 max-md:pl-2">
        <Segmented
          label={texts.filters.label}
          options={filters.map((value) => ({ value, label: texts.filters[value] }))}
          chosen={filter}
          onChoose={setFilter}
        />
        <span className="flex-1" />
        <EventCount session={session} />
        {tools === null && <span className="flex flex-none items-center">{buttons}</span>}
      </div>
      {tools !== null && shown && createPortal(buttons, tools)}
      {search !== null && (
        <SearchBar
          names={texts.find}
          words={search}
          onWords={setSearch}
          said={words === '' ? '' : found === 0 ? texts.find.none : texts.find.found(found)}
          nothing
          onStep={() => undefined}
          onClose={() => setSearch(null)}
        />
      )}
      <Notes session={session} />
      {rows.length > 0 ? (
        <Timeline
          session={session}
          rows={rows}
          shown={shown}
          onFold={(number) => setFolded((before) => toggled(before, number))}
          onShowIn={onShowIn}
        />
      ) : (
        <Nothing
          load={load}
          isNarrowed={sections.length > 0}
          onAll={() => {
            setFilter('all')
            setSearch(null)
          }}
        />
      )}
    </div>
  )
}

/** What can be kept of a task: its audit record, and its replay. */
function SaveButtons({ session }: { readonly session: HistorySession }) {
  const { taskId = '' } = useParams()
  const [savesAudit, setSavesAudit] = useState(false)
  const { save, isSaving } = useSaveReplay(session)
  return (
    <>
      <IconButton
        icon={ShieldCheck}
        label={texts.audit.open}
        size="small"
        onClick={() => setSavesAudit(true)}
      />
      <IconButton icon={FileDown} label={replayTexts.save} size="small" busy={isSaving} onClick={save} />
      {savesAudit && <AuditDialog taskId={taskId} onClose={() => setSavesAudit(false)} />}
    </>
  )
}

function toggled(numbers: ReadonlySet<number>, number: number): ReadonlySet<number> {
  const next = new Set(numbers)
  if (!next.delete(number)) next.add(number)
  return next
}

/** How much there is, and while it is read how much of it is. */
function EventCount({ session }: { readonly session: HistorySession }) {
  const { load, count, total } = useHistory(session, (view) => view)
  return (
    <span className="relative flex-none text-meta whitespace-nowrap text-muted max-md:sr-only" role="status">
      {load === 'loading' && total > 0 ? (
        <>
          {texts.loaded(count, total)}
          <Progress
            percent={(100 * count) / total}
            label={texts.loading}
            className="absolute inset-x-0 -bottom-1"
          />
        </>
      ) : (
        load === 'loaded' && texts.events(count)
      )}
    </span>
  )
}

/** What could not be read, and what is missing. */
function Notes({ session }: { readonly session: HistorySession }) {
  const load = useHistory(session, (view) => view.load)
  const reason = useHistory(session, (view) => view.reason)
  const missing = useHistory(session, (view) => view.missing)
  const erased = useHistory(session, (view) => view.erased)
  const isUnknown = useHistory(session, (view) => view.isUnknownMoment)
  const notes: ReactNode[] = [
    load === 'failed' && (
      <Note
        key="failed"
        kind="error"
        action={
          <Button size="small" onClick={session.retry}>
            {texts.tryAgain}
          </Button>
        }
      >
        {reason}
      </Note>
    ),
    isUnknown && (
      <Note key="unknown" kind="warning">
        {texts.unknownMoment}
      </Note>
    ),
    ...missing.map(({ stream, revision }) => (
      <Note key={stream} kind="error">
        {texts.missing(stream, revision)}
      </Note>
    )),
    erased > 0 && (
      <Note key="erased" kind="warning">
        {texts.erased(erased)}
      </Note>
    ),
  ].filter(Boolean)
  return notes.length > 0 && <div className="grid flex-none gap-2 p-3">{notes}</div>
}

interface NothingProps {
  readonly load: HistoryView['load']
  /** There is something, but not what is looked for. */
  readonly isNarrowed: boolean
  readonly onAll: () => void
}

function Nothing({ load, isNarrowed, onAll }: NothingProps) {
  if (isNarrowed)
    return (
      <Empty title={texts.nothingFound} action={<Button onClick={onAll}>{texts.showAll}</Button>}>
        {texts.nothingFoundWhy}
      </Empty>
    )
  if (load === 'loading')
    return (
      <div role="status" className="grid gap-3 p-4">
        <span className="sr-only">{texts.loading}</span>
        <Skeleton className="h-5 w-1/2" />
        <Skeleton className="h-4 w-3/4" />
        <Skeleton className="h-4 w-2/3" />
        <Skeleton className="h-4 w-3/4" />
      </div>
    )
  return load === 'loaded' && <Empty title={texts.empty}>{texts.emptyWhy}</Empty>
}
