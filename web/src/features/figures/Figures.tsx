/** Tasks' costs, tokens, times and counts in a period, by group: charts, tables and CSV. The choices are in the address. */
import { type ComponentProps, useMemo } from 'react'
import { useSearchParams } from 'react-router-dom'
import { groupings, type Grouping, dayAfter, weekOf } from '#domain/figures.ts'
import { scopes, figuresLimits, type Scope } from '#domain/api/figures.ts'
import { reasonOf } from '../../api/fault.ts'
import { Field } from '../../ui/form/Field.tsx'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { DownloadButton } from '../downloads/DownloadButton.tsx'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { FigureCharts } from './FigureCharts.tsx'
import { csvOf, useFiguresQuery, type FiguresQuery } from './figuresApi.ts'
import { texts } from './texts.ts'
import { useNow } from '../../ui/hooks.ts'

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

/** A choice with a visible label, which is hidden from assistive technology because the group of buttons has the same name. */
function LabelledChoice<Value extends string>(props: ComponentProps<typeof Segmented<Value>>) {
  return (
    <div className="max-md:w-full">
      <p aria-hidden="true" className="mb-1.5 text-ui font-medium">
        {props.label}
      </p>
      <div className="flex items-center md:h-8">
        <Segmented {...props} className="max-w-full flex-wrap" />
      </div>
    </div>
  )
}

const weekCounts = [4, 12, 52] as const

interface FiguresChoice {
  readonly query: FiguresQuery
  /** The number of weeks if the period is one of the offered ones, which end today; `null` for any other period. */
  readonly weeks: number | null
  readonly choose: (change: Partial<FiguresQuery>) => void
  readonly chooseWeeks: (count: number) => void
}

/** The period, the grouping and the scope, which are kept in the address. */
function useFiguresChoice(): FiguresChoice {
  const [params, setParams] = useSearchParams()
  const today = new Date(useNow(60_000)).toISOString().slice(0, 10)
  const query = useMemo(() => queryIn(params, today), [params, today])
  const choose = (change: Partial<FiguresQuery>) => {
    const next = { ...query, ...change }
    // A date that is still being typed is incomplete, and is not chosen yet.
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

/** The Monday on which a period of `count` weeks begins, if its last week contains `day`. */
const weeksBack = (day: string, count: number): string => dayAfter(weekOf(day), -7 * (count - 1))

/** Whether the day exists: `Date` would turn February 31 into a day of March. */
function isDay(text: string): boolean {
  const ms = /^2\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/** The choices that the address names. A default replaces each invalid choice. */
export function queryIn(params: URLSearchParams, today: string): FiguresQuery {
  const day = (name: string, otherwise: string): string => {
    const value = params.get(name) ?? ''
    return isDay(value) ? value : otherwise
  }
  const to = day('to', today)
  const from = day('from', weeksBack(to, figuresLimits.weeks))
  const scope: Scope = scopes.find((one) => one === params.get('scope')) ?? 'own'
  const by: Grouping = groupings.find((one) => one === params.get('by')) ?? 'week'
  return from <= to ? { from, to, by, scope } : { from: weeksBack(to, figuresLimits.weeks), to, by, scope }
}
