/** The figures of a period: a strip of totals, and the charts. */
import type { Grouping } from '#domain/figures.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import {
  charts,
  dollars,
  dollarsPer,
  endedTurns,
  percent,
  rowsOf,
  axisEnd,
  stackOf,
  timeAxisEnd,
  type Chart,
  type DrawnChart,
  type Row,
} from './charts/chartData.ts'
import type { FiguresAnswer } from './figuresApi.ts'
import { texts } from './texts.ts'
import { ChartTable } from './charts/ChartTable.tsx'
import { Columns } from './charts/Columns.tsx'
import { RankedBars } from './charts/RankedBars.tsx'

interface FigureChartsProps {
  readonly figures: FiguresAnswer
  /** Whether these figures are shown while newer ones are being fetched. */
  readonly isOld: boolean
}

export function FigureCharts({ figures, isOld }: FigureChartsProps) {
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
        {total.projectCostUsd + total.personCostUsd > 0 && (
          <p className="border-t border-line-soft px-4 py-3 text-meta text-muted md:px-5">
            {texts.paid(
              dollars(total.serverCostUsd),
              dollars(total.projectCostUsd),
              dollars(total.personCostUsd),
            )}
          </p>
        )}
      </Panel>
      {charts.map((chart) => (
        <ChartPanel key={chart.id} chart={chart} by={by} rows={rows} />
      ))}
    </div>
  )
}

interface ChartPanelProps {
  readonly chart: Chart
  readonly by: Grouping
  readonly rows: readonly Row[]
}

/** A chart with its explanation and legend, and the same figures as a table beside it. */
function ChartPanel({ chart, by, rows }: ChartPanelProps) {
  const highest = Math.max(0, ...rows.map(({ figures }) => stackOf(chart, figures)))
  const grouping = texts.groupings[by].toLowerCase()
  const chartData: DrawnChart = {
    chart,
    rows,
    end: chart.id === 'time' ? timeAxisEnd(highest) : axisEnd(highest, chart.least),
    label: texts.chart(chart.name, grouping, chart.format(highest)),
  }
  return (
    <Panel label={chart.name} className="mb-6">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b border-line-soft px-4 py-3">
        <h2 className="text-title font-semibold">{chart.name}</h2>
        <p className="min-w-0 flex-1 basis-80 text-meta text-muted">{chart.about}</p>
        {chart.series.length > 1 && <Legend chart={chart} />}
      </div>
      <div className="grid lg:grid-cols-[minmax(0,1fr)_minmax(0,31rem)]">
        <div className="min-w-0 p-4">
          {by === 'week' ? <Columns {...chartData} /> : <RankedBars {...chartData} />}
        </div>
        <ChartTable chart={chart} by={by} rows={rows} label={texts.table(chart.name, grouping)} />
      </div>
    </Panel>
  )
}

function Legend({ chart }: Pick<ChartPanelProps, 'chart'>) {
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-1">
      {chart.series.map(({ name, fill }) => (
        <li key={name} className="inline-flex items-center gap-1.5 text-meta text-muted">
          <span aria-hidden="true" className={`size-2.5 rounded-xs ${fill}`} />
          {name}
        </li>
      ))}
    </ul>
  )
}
