/** Figures of tasks: the measures that are counted for each task, and their sums by project, agent, model, payer, person or week. */
import type { Payer } from './agentKeys.ts'
import type { AgentName } from './agents.ts'

/** Every measure, with the value 0. The sums over the groups equal the total. Times are in milliseconds, costs in US dollars. */
export const noFigures = {
  tasks: 0,
  /** The requested turns of agents. `completed`, `failed` and `cancelled` count the finished turns. */
  turns: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  /** The time from the request of a turn until a runner first claimed it or, if none did, until its end. */
  waitingMs: 0,
  /** The time from the first claim of a turn until its end. */
  runningMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  pullRequests: 0,
  /** The merged pull requests, counted on the day of the merge. */
  mergedPullRequests: 0,
  /** `costUsd` split by payer: the server, or a project or a person with a key of their own. */
  serverCostUsd: 0,
  projectCostUsd: 0,
  personCostUsd: 0,
}
export type Figures = Readonly<typeof noFigures>
export type Measure = keyof Figures
export const measures = Object.keys(noFigures) as readonly Measure[]

const costMeasures = {
  server: 'serverCostUsd',
  project: 'projectCostUsd',
  person: 'personCostUsd',
} as const satisfies Record<Payer, Measure>

export const paidBy = (payer: Payer, costUsd: number): Partial<Figures> => ({
  [costMeasures[payer]]: costUsd,
})

/** Figures of one day in UTC, with their agent, model and payer; `model` is `null` when unknown. */
export interface DayFigures extends Partial<Figures> {
  readonly day: string
  readonly agent: AgentName
  readonly model: string | null
  /** Who paid. Absent in documents that were written before people could bring keys, when the server always paid. */
  readonly payer?: Payer
}

export function added(figures: Figures, more: Partial<Figures>): Figures {
  const sums = { ...noFigures }
  for (const measure of measures) sums[measure] = figures[measure] + (more[measure] ?? 0)
  return sums
}

export const groupings = ['week', 'project', 'agent', 'model', 'payer', 'person'] as const
export type Grouping = (typeof groupings)[number]

/** Days in UTC such as `2026-01-31`, both included. */
export interface Period {
  readonly from: string
  readonly to: string
}

export interface TaskFigures {
  readonly owner: string
  readonly project: string
  readonly days: readonly DayFigures[]
}

/** The sums per group, and the total. The key `null` is for figures without a group, such as those of an unknown model. */
export interface SummedFigures {
  readonly total: Figures
  readonly groups: ReadonlyMap<string | null, Figures>
}

/** Adds up the figures of a period, task by task. */
export function figuresSum(by: Grouping, { from, to }: Period) {
  let total: Figures = noFigures
  const groups = new Map<string | null, Figures>()
  return {
    add(task: TaskFigures): void {
      for (const figures of task.days) {
        if (figures.day < from || figures.day > to) continue
        const key = groupOf(by, task, figures)
        total = added(total, figures)
        groups.set(key, added(groups.get(key) ?? noFigures, figures))
      }
    },
    sums: (): SummedFigures => ({ total, groups }),
  }
}

function groupOf(
  by: Grouping,
  { owner, project }: Pick<TaskFigures, 'owner' | 'project'>,
  { day, agent, model, payer = 'server' }: DayFigures,
): string | null {
  switch (by) {
    case 'week':
      return weekOf(day)
    case 'project':
      return project
    case 'agent':
      return agent
    case 'model':
      return model
    case 'payer':
      return payer
    case 'person':
      return owner
  }
}

const dayMs = 86_400_000

/** The Monday of the week to which the day belongs. Days are in UTC. */
export function weekOf(day: string): string {
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return dayAfter(day, -weekday)
}

/** The day that is `days` days after `day`, or before it when `days` is negative. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

/** The Mondays of all weeks that overlap the period, in order. */
export function weeksOf({ from, to }: Period): readonly string[] {
  const weeks: string[] = []
  for (let week = weekOf(from); week <= to; week = dayAfter(week, 7)) weeks.push(week)
  return weeks
}
