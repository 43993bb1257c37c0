/** Figures of a period, by group: charts with their tables, and the same as CSV. The choices are in the address. */
import type { ComponentProps } from 'react'
import { groupings, type Grouping } from '#domain/figures.ts'
import { scopes } from '#domain/api/figures.ts'
import { reasonOf } from '../../api/fault.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { DownloadButton } from '../downloads/DownloadButton.tsx'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { charts, dollars, dollarsPer, endedTurns, percent, rowsOf } from './charts/chart.ts'
import { ChartPanel } from './charts/ChartPanel.tsx'
import { csvOf, useFiguresQuery, type FiguresAnswer } from './figuresApi.ts'
import { texts } from './texts.ts'
import { useFiguresChoice, weekCounts, type FiguresChoice } from './useFiguresChoice.ts'

export function Figures() {
  usePageTitle(texts.title)
  const choice = useFiguresChoice()
  const { query } = choice
  const figures = useFiguresQuery(query, { refetchOnMountOrArgChange: true })
  const { data, error, isFetching } = figures
  return (
    <Page
      title={texts.title}
      width="wide"
      lead={<p className="text-muted">{texts.lead}</p>}
      actions={
        <DownloadButton
          call={csvOf(query)}
          file={`figures-${query.by}-${query.from}-${query.to}.csv`}
          label={texts.download}
          busyLabel={texts.downloading}
        />
      }
    >
      <Controls choice={choice} />
      {query.scope === 'all' && <p className="mb-4 text-meta text-muted">{texts.everybody}</p>}
      <RetryNote read={figures} className="mb-6">
        {reasonOf(error, texts.fetchFailed)}
      </RetryNote>
      {data !== undefined && <FigureCharts figures={data} isOld={isFetching} />}
      {data === undefined && error === undefined && (
        <Skeletons label={texts.loading} each={['h-20 w-full', 'mt-8 h-72 w-full', 'mt-6 h-72 w-full']} />
      )}
    </Page>
  )
}

function Controls({ choice }: { readonly choice: FiguresChoice }) {
  const { query, weeks, choose } = choice
  const { data } = useMeQuery()
  const isAdmin = data?.isAdmin === true
  const available: readonly Grouping[] =
    query.scope === 'all' ? groupings : groupings.filter((by) => by !== 'person')
  return (
    <div className="mb-6 flex flex-wrap items-start gap-x-4 gap-y-3">
      <LabelledChoice
        label={texts.period}
        options={weekCounts.map((count) => ({ value: String(count), label: texts.periods[count] }))}
        chosen={String(weeks)}
        onChoose={(count) => choice.chooseWeeks(Number(count))}
      />
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
      <LabelledChoice
        label={texts.grouping}
        options={available.map((by) => ({ value: by, label: texts.groupings[by] }))}
        chosen={query.by}
        onChoose={(by) => choose({ by })}
      />
      {isAdmin && (
        <LabelledChoice
          label={texts.scope}
          options={scopes.map((scope) => ({ value: scope, label: texts.scopes[scope] }))}
          chosen={query.scope}
          onChoose={(scope) =>
            choose(scope === 'own' && query.by === 'person' ? { scope, by: 'week' } : { scope })
          }
        />
      )}
    </div>
  )
}

/** A choice with a visible label, which is hidden from assistive technology because the group itself has the name. */
function LabelledChoice<Value extends string>(props: ComponentProps<typeof Segmented<Value>>) {
  return (
    <div className="max-md:w-full">
      <p aria-hidden="true" className="mb-1.5 text-ui font-medium">
        {props.label}
      </p>
      <div className="flex items-center md:h-8">
        <Segmented {...props} />
      </div>
    </div>
  )
}

interface FigureChartsProps {
  readonly figures: FiguresAnswer
  /** Whether newer figures are being fetched. */
  readonly isOld: boolean
}

function FigureCharts({ figures, isOld }: FigureChartsProps) {
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
