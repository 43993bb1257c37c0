/** The history of a task: a section per turn or command, with a row for each thing that happened. Selecting a row shows the task as it was then. */
import { Search } from 'lucide-react'
import { useDeferredValue, useMemo, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { Button } from '../../../ui/form/Button.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { SearchBar } from '../../../ui/form/SearchBar.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Progress } from '../../../ui/status/Progress.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { toggled } from '../toggled.ts'
import { HistoryActions } from './HistoryActions.tsx'
import type { HistorySession, HistoryView } from './historySession.ts'
import { actorsIn, countsOf, filters, listedRows, type Filter } from './listedRows.ts'
import { texts } from './texts.ts'
import { Timeline } from './Timeline.tsx'
import type { ShowIn } from './TimelineRows.tsx'
import { useHistory } from './useHistory.ts'

export interface HistoryPanelProps {
  readonly session: HistorySession
  readonly visible: boolean
  /** The element that gets the panel's buttons; `null` when they are in the panel's own bar. */
  readonly tools: HTMLElement | null
  readonly onShowIn: ShowIn
  /** The server's statement about the record; `null` in a saved replay, which has no server. */
  readonly record: { readonly state: ReactNode; readonly onAudit: () => void } | null
}

export function HistoryPanel({ session, visible, tools, onShowIn, record }: HistoryPanelProps) {
  const sections = useHistory(session, (view) => view.sections)
  const load = useHistory(session, (view) => view.load)
  const [filter, setFilter] = useState<Filter>('all')
  const [search, setSearch] = useState<string | null>(null)
  const [actor, setActor] = useState<string | null>(null)
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const words = useDeferredValue(search ?? '')
  const { person } = session.names
  const rows = useMemo(
    () => listedRows(sections, { filter, words, actor, person, folded, unfolded }),
    [sections, filter, words, actor, person, folded, unfolded],
  )
  const matchCount = rows.filter(({ kind }) => kind === 'row').length
  const buttons = (
    <>
      <IconButton
        icon={Search}
        label={texts.find.label}
        size="small"
        aria-expanded={search !== null}
        onClick={() => setSearch(search === null ? '' : null)}
      />
      <HistoryActions session={session} onAudit={record?.onAudit ?? null} />
    </>
  )
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-11 flex-none items-center border-b border-line-soft">
        <div className="flex min-w-0 flex-1 items-center gap-2 overflow-x-auto px-2 py-1 md:px-4">
          <Segmented
            label={texts.filters.label}
            options={filters.map((value) => ({ value, label: texts.filters[value] }))}
            chosen={filter}
            onChoose={setFilter}
          />
          <ActorFilter actors={actorsIn(sections, person)} chosen={actor} onChoose={setActor} />
          <span className="flex-1" />
          <EntryCount session={session} />
        </div>
        {tools === null && (
          <span className="flex flex-none items-center border-l border-line-soft">{buttons}</span>
        )}
      </div>
      {tools !== null && visible && createPortal(buttons, tools)}
      {search !== null && (
        <SearchBar
          names={texts.find}
          words={search}
          onWords={setSearch}
          result={words === '' ? '' : matchCount === 0 ? texts.find.none : texts.find.found(matchCount)}
          nothing
          onStep={() => undefined}
          onClose={() => setSearch(null)}
        />
      )}
      {record?.state}
      <Notes session={session} />
      {rows.length > 0 ? (
        <Timeline
          session={session}
          rows={rows}
          visible={visible}
          onFold={(number) => setFolded((before) => toggled(before, number))}
          onUnfold={(key) => setUnfolded((before) => toggled(before, key))}
          onShowIn={onShowIn}
        />
      ) : (
        <Nothing
          load={load}
          isNarrowed={sections.length > 0}
          onAll={() => {
            setFilter('all')
            setActor(null)
            setSearch(null)
          }}
        />
      )}
    </div>
  )
}

interface ActorFilterProps {
  readonly actors: readonly string[]
  readonly chosen: string | null
  readonly onChoose: (actor: string | null) => void
}

function ActorFilter({ actors, chosen, onChoose }: ActorFilterProps) {
  const { label, all } = texts.actors
  return (
    <select
      aria-label={label}
      value={chosen ?? ''}
      onChange={({ currentTarget }) => onChoose(currentTarget.value || null)}
      className="h-11 max-w-36 flex-none rounded-control border border-line bg-panel px-1.5 text-meta font-medium hover:bg-raised md:h-7"
    >
      <option value="">{all}</option>
      {actors.map((actor) => (
        <option key={actor}>{actor}</option>
      ))}
    </select>
  )
}

/** While pages are loading, how much of the history has been read; once all are loaded, the number of entries. */
function EntryCount({ session }: { readonly session: HistorySession }) {
  const { load, count, total, sections } = useHistory(session, (view) => view)
  const { entries, pieces } = useMemo(() => countsOf(sections), [sections])
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
        load === 'loaded' && texts.entries(entries, pieces)
      )}
    </span>
  )
}

function Notes({ session }: { readonly session: HistorySession }) {
  const { load, reason, missing, erased, isUnknownMoment } = useHistory(session, (view) => view)
  const notes: ReactNode[] = [
    load === 'failed' && (
      <FailureNote key="failed" onRetry={session.retry}>
        {reason}
      </FailureNote>
    ),
    isUnknownMoment && (
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
  /** Whether there are rows, but none that matches the filter. */
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
