/** Which charts there are, and what each shows of a group. Pure. */
import { agentNamed, isAgentName } from '#domain/agents.ts'
import type { FiguresGroup } from '#domain/api/figures.schema.ts'
import type { Figures, Grouping } from '#domain/figures.ts'
import { took } from '../../../ui/text/clock.ts'
import { grouped } from '../../../ui/layout/Stats.tsx'
import { texts } from '../texts.ts'

/** A row of a chart and of its table. */
export interface Row {
  readonly key: string
  readonly label: string
  /** Where there is little room. */
  readonly shortLabel: string
  readonly figures: Figures
}

export interface Series {
  readonly name: string
  /** The class that fills its marks. */
  readonly fill: string
  value(figures: Figures): number
}

export interface Column {
  readonly name: string
  /** `null` where there is nothing to divide by. */
  cell(figures: Figures): string | null
}

export interface Chart {
  readonly id: keyof typeof texts.charts
  readonly name: string
  readonly about: string
  /** Stacked on one another, the first at the bottom. */
  readonly series: readonly Series[]
  readonly columns: readonly Column[]
  /** The least end of its axis: half of it is the smallest figure that can be said. */
  readonly least: number
  format(value: number): string
}

/** A chart with what is drawn of it. */
export interface DrawnChart {
  readonly chart: Chart
  readonly rows: readonly Row[]
  /** The value at the end of the axis. */
  readonly end: number
  /** What the chart says as a whole to those who do not see it. */
  readonly label: string
}

export const endedTurns = ({ completed, failed, cancelled }: Figures): number =>
  completed + failed + cancelled

const per = (sum: number, count: number): number => (count === 0 ? 0 : sum / count)

export function percent(part: number, whole: number): string | null {
  return whole === 0 ? null : `${Math.round((part / whole) * 100)}%`
}
export function dollars(value: number): string {
  if (value > 0 && value < 0.01) return '<$0.01'
  const [whole, cents = '00'] = value.toFixed(2).split('.')
  return `$${grouped(Number(whole))}.${cents}`
}

export function dollarsPer({ costUsd }: Pick<Figures, 'costUsd'>, count: number): string | null {
  return count === 0 ? null : dollars(costUsd / count)
}

/** `5.7k`: put together by hand, as the browser's own formatter costs a millisecond for each. */
export function compact(count: number): string {
  const [unit, size] =
    count >= 999_500 ? (['M', 1e6] as const) : count >= 1_000 ? (['k', 1e3] as const) : (['', 1] as const)
  const value = count / size
  return `${value >= 100 || size === 1 ? Math.round(value) : Number(value.toFixed(1))}${unit}`
}

const { series, charts: names, about } = texts
const counted = (name: string, value: (figures: Figures) => number): Column => ({
  name,
  cell: (figures) => grouped(value(figures)),
})
const cachedTokens = ({ cacheReadTokens, cacheWriteTokens }: Figures) => cacheReadTokens + cacheWriteTokens
const waiting = (figures: Figures) => per(figures.waitingMs, endedTurns(figures))
const running = (figures: Figures) => per(figures.runningMs, endedTurns(figures))
const timed = (name: string, value: (figures: Figures) => number): Column => ({
  name,
  cell: (figures) => (endedTurns(figures) === 0 ? null : took(value(figures))),
})

export const charts: readonly Chart[] = [
  {
    id: 'turns',
    name: names.turns,
    about: about.turns,
    series: [
      { name: series.completed, fill: 'fill-ok bg-ok', value: ({ completed }) => completed },
      { name: series.failed, fill: 'fill-bad bg-bad', value: ({ failed }) => failed },
      { name: series.cancelled, fill: 'fill-control bg-control', value: ({ cancelled }) => cancelled },
    ],
    columns: [
      counted(series.tasks, ({ tasks }) => tasks),
      counted(series.completed, ({ completed }) => completed),
      counted(series.failed, ({ failed }) => failed),
      counted(series.cancelled, ({ cancelled }) => cancelled),
      { name: series.success, cell: (figures) => percent(figures.completed, endedTurns(figures)) },
    ],
    least: 2,
    format: (value) => grouped(Math.round(value)),
  },
  {
    id: 'time',
    name: names.time,
    about: about.time,
    series: [
      { name: series.waiting, fill: 'fill-control bg-control', value: waiting },
      { name: series.running, fill: 'fill-run bg-run', value: running },
    ],
    columns: [timed(series.waiting, waiting), timed(series.running, running)],
    least: 1_000,
    format: (value) => (value === 0 ? '0' : took(value)),
  },
  {
    id: 'tokens',
    name: names.tokens,
    about: about.tokens,
    series: [
      { name: series.output, fill: 'fill-accent bg-accent', value: ({ outputTokens }) => outputTokens },
      { name: series.input, fill: 'fill-run bg-run', value: ({ inputTokens }) => inputTokens },
      { name: series.cached, fill: 'fill-control bg-control', value: cachedTokens },
    ],
    columns: [
      counted(series.output, ({ outputTokens }) => outputTokens),
      counted(series.input, ({ inputTokens }) => inputTokens),
      counted(series.cached, cachedTokens),
    ],
    least: 2,
    format: compact,
  },
  {
    id: 'cost',
    name: names.cost,
    about: about.cost,
    series: [{ name: series.cost, fill: 'fill-accent bg-accent', value: ({ costUsd }) => costUsd }],
    columns: [
      { name: series.cost, cell: ({ costUsd }) => dollars(costUsd) },
      counted(series.pullRequests, ({ pullRequests }) => pullRequests),
      { name: series.perPullRequest, cell: (figures) => dollarsPer(figures, figures.pullRequests) },
      counted(series.merged, ({ mergedPullRequests }) => mergedPullRequests),
      { name: series.perMerged, cell: (figures) => dollarsPer(figures, figures.mergedPullRequests) },
    ],
    least: 0.02,
    format: dollars,
  },
]

export function rowsOf(
  by: Grouping,
  groups: readonly FiguresGroup[],
  others: { readonly groups: number; readonly figures: Figures } | null,
): readonly Row[] {
  const rows = groups.map((group): Row => {
    const label = labelOf(by, group)
    return {
      key: group.key ?? '',
      label: by === 'week' ? texts.week(label) : label,
      shortLabel: label,
      figures: group.figures,
    }
  })
  if (others === null) return rows
  const label = texts.others(others.groups)
  return [...rows, { key: 'others', label, shortLabel: label, figures: others.figures }]
}

function labelOf(by: Grouping, { key, name }: FiguresGroup): string {
  if (key === null) return texts.unnamed[by]
  if (by === 'week') return dayLabel(key)
  if (by === 'agent') return isAgentName(key) ? agentNamed(key).label : key
  return name ?? texts.unnamed[by]
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 23`, of a day in UTC. */
function dayLabel(day: string): string {
  const [, month = '1', date = '1'] = day.split('-')
  return `${months[Number(month) - 1] ?? ''} ${Number(date)}`
}

/** The end of an axis: 1, 2, 4, 6 or 8 times a power of ten, so that its middle is a round number as well; not below `least`. */
export function axisEnd(highest: number, least: number): number {
  if (highest <= least) return least
  const power = 10 ** Math.floor(Math.log10(highest))
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= highest * (1 - 1e-9)) ?? 10
  return step * power
}

/** The end of an axis of times, in steps that people count in. In milliseconds. */
export function timeAxisEnd(highest: number): number {
  const seconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 18_000, 36_000]
  return (seconds.find((one) => one * 1_000 >= highest) ?? Math.ceil(highest / 36_000_000) * 36_000) * 1_000
}

export const stackOf = ({ series }: Pick<Chart, 'series'>, figures: Figures): number =>
  series.reduce((sum, one) => sum + one.value(figures), 0)
