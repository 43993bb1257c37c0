/** The choices on the page of figures: the period, the grouping and whose tasks, kept in the address. */
import { useMemo } from 'react'
import { useSearchParams } from 'react-router-dom'
import { dayAfter, groupings, weekOf, type Grouping } from '#domain/figures.ts'
import { figuresLimits, scopes, type Scope } from '#domain/api/figures.ts'
import { useNow } from '../../ui/hooks.ts'
import type { FiguresQuery } from './figuresApi.ts'

export const weekCounts = [4, 12, 52] as const

export interface FiguresChoice {
  readonly query: FiguresQuery
  /** The period's length in weeks if it ends today; `null` for any other period. */
  readonly weeks: number | null
  readonly choose: (change: Partial<FiguresQuery>) => void
  readonly chooseWeeks: (count: number) => void
}

export function useFiguresChoice(): FiguresChoice {
  const [params, setParams] = useSearchParams()
  const today = new Date(useNow(60_000)).toISOString().slice(0, 10)
  const query = useMemo(() => queryIn(params, today), [params, today])
  const choose = (change: Partial<FiguresQuery>) => {
    const next = { ...query, ...change }
    // While a date is being typed, it is incomplete.
    if (!isDay(next.from) || !isDay(next.to) || next.from > next.to) return
    setParams({ ...next }, { replace: true })
  }
  return {
    query,
    weeks: weekCounts.find((count) => query.to === today && query.from === weeksBack(today, count)) ?? null,
    choose,
    chooseWeeks: (count) => choose({ from: weeksBack(today, count), to: today }),
  }
}

/** The Monday on which a period of `count` weeks begins whose last week contains `day`. */
const weeksBack = (day: string, count: number): string => dayAfter(weekOf(day), -7 * (count - 1))

/** Whether the day exists: `Date` would turn February 31 into a day of March. */
function isDay(text: string): boolean {
  const ms = /^2\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/** The choices in the address; the default takes the place of each invalid one. */
export function queryIn(params: URLSearchParams, today: string): FiguresQuery {
  const day = (name: string, otherwise: string): string => {
    const given = params.get(name) ?? ''
    return isDay(given) ? given : otherwise
  }
  const to = day('to', today)
  const from = day('from', weeksBack(to, figuresLimits.weeks))
  const scope: Scope = scopes.find((one) => one === params.get('scope')) ?? 'own'
  const by: Grouping = groupings.find((one) => one === params.get('by')) ?? 'week'
  return from <= to ? { from, to, by, scope } : { from: weeksBack(to, figuresLimits.weeks), to, by, scope }
}
