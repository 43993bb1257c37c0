/** A chart with its explanation and legend, and the same figures as a table beside it. */
import type { Grouping } from '#domain/figures.ts'
import { Panel } from '../../../ui/layout/Panel.tsx'
import { texts } from '../texts.ts'
import { axisEnd, stackOf, timeAxisEnd, type Chart, type DrawnChart, type Row } from './chart.ts'
import { ChartTable } from './ChartTable.tsx'
import { Columns } from './Columns.tsx'
import { RankedBars } from './RankedBars.tsx'

interface ChartPanelProps {
  readonly chart: Chart
  readonly by: Grouping
  readonly rows: readonly Row[]
}

export function ChartPanel({ chart, by, rows }: ChartPanelProps) {
  const highest = Math.max(0, ...rows.map(({ figures }) => stackOf(chart, figures)))
  const grouping = texts.groupings[by].toLowerCase()
  const drawn: DrawnChart = {
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
          {by === 'week' ? <Columns {...drawn} /> : <RankedBars {...drawn} />}
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
