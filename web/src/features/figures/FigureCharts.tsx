/** The figures of a period: their sums, and a chart for each. */
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { charts, dollars, dollarsPer, endedTurns, percent, rowsOf } from './charts/chart.ts'
import { ChartPanel } from './charts/ChartPanel.tsx'
import type { FiguresAnswer } from './figuresApi.ts'
import { texts } from './texts.ts'

interface FigureChartsProps {
  readonly figures: FiguresAnswer
  /** Whether newer figures are being fetched. */
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
      </Panel>
      {charts.map((chart) => (
        <ChartPanel key={chart.id} chart={chart} by={by} rows={rows} />
      ))}
    </div>
  )
}
