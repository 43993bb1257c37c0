/** What of the figures is shown: the period, the grouping and whose tasks, kept in the address. */
import { useMemo } from 'react'
import { useSearchParams } from 'react-router-dom'
import { dayAfter, groupings, weekOf, type Grouping } from '#domain/figures.ts'
import { figuresLimits, scopes, type Scope } from '#domain/api/figures.ts'
import { useNow } from '../../ui/hooks.ts'
import type { FiguresQuery } from './figuresApi.ts'

export const weekCounts = [4, 12, 52] as const

export interface FiguresChoice {
  readonly query: FiguresQuery
  /** How many weeks up to today the period is; `null` when it is another. */
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
    // A date that is being typed is none for a moment.
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

/** The Monday with which so many weeks begin, of which the last is that of the day. */
const weeksBack = (day: string, count: number): string => dayAfter(weekOf(day), -7 * (count - 1))

/** A day that there is: of February 31 a date would be made that is another. */
function isDay(text: string): boolean {
  const ms = /^2\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/** What is not valid in the address is as if it were not there. */
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
