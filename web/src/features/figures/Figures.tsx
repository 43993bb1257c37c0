/** Figures of a period, by group: charts with their tables, and the same as CSV. What is chosen is in the address. */
import { Download } from 'lucide-react'
import { useDispatch } from 'react-redux'
import { groupings, type Grouping } from '#domain/figures.ts'
import { scopes } from '#domain/api/figures.ts'
import { reasonOf } from '../../api/fault.ts'
import { useDownload } from '../../api/useDownload.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { Skeleton } from '../../ui/status/Loading.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { notifiedFailure } from '../notifications/notifications.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { charts, dollars, dollarsPer, endedTurns, percent, rowsOf } from './charts/chart.ts'
import { ChartPanel } from './charts/ChartPanel.tsx'
import { csvOf, useFiguresQuery, type FiguresAnswer, type FiguresQuery } from './figuresApi.ts'
import { texts } from './texts.ts'
import { useFiguresChoice, weekCounts, type FiguresChoice } from './useFiguresChoice.ts'

export function Figures() {
  usePageTitle(texts.title)
  const choice = useFiguresChoice()
  const { data, error, isFetching, refetch } = useFiguresQuery(choice.query, {
    refetchOnMountOrArgChange: true,
  })
  return (
    <Page
      title={texts.title}
      width="wide"
      lead={<p className="text-muted">{texts.lead}</p>}
      actions={<DownloadButton query={choice.query} />}
    >
      <Controls choice={choice} />
      {choice.query.scope === 'all' && <p className="mb-4 text-meta text-muted">{texts.everybody}</p>}
      {error !== undefined && (
        <Note
          kind="error"
          className="mb-6"
          action={
            <Button size="small" busy={isFetching} onClick={() => void refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(error, texts.fetchFailed)}
        </Note>
      )}
      {data === undefined ? error === undefined && <Loading /> : <Shown figures={data} isOld={isFetching} />}
    </Page>
  )
}

function DownloadButton({ query }: { readonly query: FiguresQuery }) {
  const dispatch = useDispatch()
  const { save, isSaving } = useDownload()
  const download = async () => {
    const fault = await save(csvOf(query), `figures-${query.by}-${query.from}-${query.to}.csv`)
    if (fault !== null) dispatch(notifiedFailure(texts.downloadFailed, fault, texts.downloadFailed))
  }
  return (
    <Button
      size="touch"
      icon={<Download />}
      busy={isSaving}
      busyLabel={texts.downloading}
      onClick={() => void download()}
    >
      {texts.download}
    </Button>
  )
}

function Controls({ choice }: { readonly choice: FiguresChoice }) {
  const { query, weeks, choose } = choice
  const { data } = useMeQuery()
  const isAdmin = data?.isAdmin === true
  const offered: readonly Grouping[] =
    query.scope === 'all' ? groupings : groupings.filter((by) => by !== 'person')
  return (
    <div className="mb-6 flex flex-wrap items-start gap-x-4 gap-y-3">
      <Labelled label={texts.period}>
        <Segmented
          label={texts.period}
          options={weekCounts.map((count) => ({ value: String(count), label: texts.periods[count] }))}
          chosen={String(weeks)}
          onChoose={(count) => choice.chooseWeeks(Number(count))}
        />
      </Labelled>
      <Field
        label={texts.from}
        type="date"
        value={query.from}
        max={query.to}
        onChange={(event) => choose({ from: event.target.value })}
      />
      <Field
        label={texts.to}
        type="date"
        value={query.to}
        min={query.from}
        onChange={(event) => choose({ to: event.target.value })}
      />
      <Labelled label={texts.grouping}>
        <Segmented
          label={texts.grouping}
          options={offered.map((by) => ({ value: by, label: texts.groupings[by] }))}
          chosen={query.by}
          onChoose={(by) => choose({ by })}
        />
      </Labelled>
      {isAdmin && (
        <Labelled label={texts.scope}>
          <Segmented
            label={texts.scope}
            options={scopes.map((scope) => ({ value: scope, label: texts.scopes[scope] }))}
            chosen={query.scope}
            onChoose={(scope) =>
              choose(scope === 'own' && query.by === 'person' ? { scope, by: 'week' } : { scope })
            }
          />
        </Labelled>
      )}
    </div>
  )
}

/** A visible label for a group of buttons, which has its name already. */
function Labelled({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div className="max-md:w-full">
      <p aria-hidden="true" className="mb-1.5 text-ui font-medium">
        {label}
      </p>
      <div className="flex items-center md:h-8">{children}</div>
    </div>
  )
}

function Shown({ figures, isOld }: { readonly figures: FiguresAnswer; readonly isOld: boolean }) {
  const { total, by, groups, others } = figures
  if (total.tasks === 0 && total.turns === 0 && total.pullRequests === 0)
    return (
      <Panel>
        <Empty
          title={texts.empty}
          action={
            <ButtonLink to="/dashboard" kind="primary" size="touch">
              {texts.createTask}
            </ButtonLink>
          }
        >
          {texts.emptyWhy}
        </Empty>
      </Panel>
    )
  const rows = rowsOf(by, groups, others)
  return (
    <div aria-busy={isOld}>
      <Panel className="mb-6">
        <Stats
          unknown={texts.unknown}
          stats={[
            { name: texts.stats.turns, value: total.turns },
            { name: texts.stats.success, value: percent(total.completed, endedTurns(total)) },
            { name: texts.stats.cost, value: dollars(total.costUsd) },
            { name: texts.stats.merged, value: total.mergedPullRequests },
            { name: texts.stats.perMerged, value: dollarsPer(total, total.mergedPullRequests) },
          ]}
        />
      </Panel>
      {charts.map((chart) => (
        <ChartPanel key={chart.id} chart={chart} by={by} rows={rows} />
      ))}
    </div>
  )
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-20 w-full" />
      <Skeleton className="mt-8 h-72 w-full" />
      <Skeleton className="mt-6 h-72 w-full" />
    </div>
  )
}
