/** Figures of tasks: what is counted of each, and how it is summed by project, agent, model, person or week. */
import type { AgentName } from './agents.ts'

/** Everything that is counted. All of it adds up: the sums of the groups are the sum of all. Times in milliseconds, costs in US dollars. */
export const noFigures = {
  /** Tasks that were created. */
  tasks: 0,
  /** Turns of an agent that were asked for; those that have not ended are in none of the next three. */
  turns: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  /** From when a turn was asked for until a runner took it up. */
  waitingMs: 0,
  /** From then until it ended. */
  runningMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  /** Pull requests that were opened. */
  pullRequests: 0,
  /** Those that were merged, by the day of the merge. */
  mergedPullRequests: 0,
}
export type Figures = Readonly<typeof noFigures>
export type Measure = keyof Figures
export const measures = Object.keys(noFigures) as readonly Measure[]

/** Figures of one day in UTC, with the agent and the model that they belong to; `model` is `null` while none is known. */
export interface DayFigures extends Partial<Figures> {
  readonly day: string
  readonly agent: AgentName
  readonly model: string | null
}

export function added(figures: Figures, more: Partial<Figures>): Figures {
  const sums = { ...noFigures }
  for (const measure of measures) sums[measure] = figures[measure] + (more[measure] ?? 0)
  return sums
}

export const groupings = ['week', 'project', 'agent', 'model', 'person'] as const
export type Grouping = (typeof groupings)[number]

/** Days in UTC such as `2026-01-31`, both included. */
export interface Period {
  readonly from: string
  readonly to: string
}

/** The figures of one task. */
export interface TaskFigures {
  readonly owner: string
  readonly project: string
  readonly days: readonly DayFigures[]
}

/** Sums by group, and of all. `null` is the group of what belongs to none, such as a model that is not known. */
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
  { day, agent, model }: DayFigures,
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
    case 'person':
      return owner
  }
}

const dayMs = 86_400_000

/** The Monday of the day's week, in UTC. */
export function weekOf(day: string): string {
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return dayAfter(day, -weekday)
}

/** The day so many days later, or earlier. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

/** The Mondays of a period's weeks, in order. */
export function weeksOf({ from, to }: Period): readonly string[] {
  const weeks: string[] = []
  for (let week = weekOf(from); week <= to; week = dayAfter(week, 7)) weeks.push(week)
  return weeks
}
