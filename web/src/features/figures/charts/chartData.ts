/** The charts of the figures: how each derives its values from the figures of a group, and how its axis and numbers look. Pure. */
import { agentNamed, isAgentName } from '#domain/agents.ts'
import type { FiguresGroup } from '#domain/api/figures.schema.ts'
import type { Figures, Grouping } from '#domain/figures.ts'
import { months, took } from '../../../ui/text/times.ts'
import { grouped } from '../../../ui/layout/Stats.tsx'
import { texts } from '../texts.ts'

/** A row of a chart and of its table. */
export interface Row {
  readonly key: string
  readonly label: string
  /** The label for places with little room. */
  readonly shortLabel: string
  readonly figures: Figures
}

interface Series {
  readonly name: string
  /** The CSS class that fills the marks of the series. */
  readonly fill: string
  value(figures: Figures): number
}

interface Column {
  readonly name: string
  /** The text of a table cell; `null` when there is nothing to divide by. */
  cell(figures: Figures): string | null
}

export interface Chart {
  readonly id: keyof typeof texts.charts
  readonly name: string
  readonly about: string
  /** The series are stacked on one another, the first at the bottom. */
  readonly series: readonly Series[]
  readonly columns: readonly Column[]
  /** The axis ends at this value or higher. The middle of the axis is labelled too, so `format` must be able to show half of this value. */
  readonly least: number
  format(value: number): string
}

/** The input for drawing a chart. */
export interface DrawnChart {
  readonly chart: Chart
  readonly rows: readonly Row[]
  /** The value at which the axis ends. */
  readonly end: number
  /** A summary of the chart for assistive technology. */
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

/** `5.7k`: formatted by hand, since the browser's own formatter costs a millisecond per number. */
export function compact(count: number): string {
  const [unit, size] =
    count >= 999_500 ? (['M', 1e6] as const) : count >= 1_000 ? (['k', 1e3] as const) : (['', 1] as const)
  const value = count / size
  return `${value >= 100 || size === 1 ? Math.round(value) : Number(value.toFixed(1))}${unit}`
}

const { series, charts: names, about, payers } = texts
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
    series: [
      { name: payers.server, fill: 'fill-accent bg-accent', value: ({ serverCostUsd }) => serverCostUsd },
      { name: payers.project, fill: 'fill-run bg-run', value: ({ projectCostUsd }) => projectCostUsd },
      { name: payers.person, fill: 'fill-control bg-control', value: ({ personCostUsd }) => personCostUsd },
    ],
    columns: [
      { name: series.cost, cell: ({ costUsd }) => dollars(costUsd) },
      { name: payers.server, cell: ({ serverCostUsd }) => dollars(serverCostUsd) },
      { name: payers.project, cell: ({ projectCostUsd }) => dollars(projectCostUsd) },
      { name: payers.person, cell: ({ personCostUsd }) => dollars(personCostUsd) },
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

const payerNames: ReadonlyMap<string, string> = new Map(Object.entries(payers))

function labelOf(by: Grouping, { key, name }: FiguresGroup): string {
  if (key === null) return texts.unnamed[by]
  if (by === 'week') return dayLabel(key)
  if (by === 'agent') return isAgentName(key) ? agentNamed(key).label : key
  if (by === 'payer') return payerNames.get(key) ?? texts.unnamed.payer
  return name ?? texts.unnamed[by]
}

/** `Nov 23`, for a day in UTC. */
function dayLabel(day: string): string {
  const [, month = '1', date = '1'] = day.split('-')
  return `${months[Number(month) - 1]?.slice(0, 3) ?? ''} ${Number(date)}`
}

/** The value at which an axis ends: `least` or, above it, 1, 2, 4, 6 or 8 times a power of ten, so that the middle is a round number too. */
export function axisEnd(highest: number, least: number): number {
  if (highest <= least) return least
  const power = 10 ** Math.floor(Math.log10(highest))
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= highest * (1 - 1e-9)) ?? 10
  return step * power
}

/** The time at which a time axis ends, in milliseconds: a round number of seconds, minutes or hours. */
export function timeAxisEnd(highest: number): number {
  const seconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 18_000, 36_000]
  return (seconds.find((one) => one * 1_000 >= highest) ?? Math.ceil(highest / 36_000_000) * 36_000) * 1_000
}

/** The sum of a chart's series. */
export const stackOf = ({ series }: Pick<Chart, 'series'>, figures: Figures): number =>
  series.reduce((sum, one) => sum + one.value(figures), 0)

/** The marks of a row, stacked on one another: where each mark begins and how long it is, in percent of the axis. */
export function stackedMarks({ series, format }: Chart, { label, figures }: Row, end: number) {
  let sum = 0
  return series.flatMap(({ name, fill, value }) => {
    const size = (value(figures) / end) * 100
    const from = sum
    sum += size
    return size > 0
      ? [{ name, fill, from, size, title: texts.mark(label, name, format(value(figures))) }]
      : []
  })
}
