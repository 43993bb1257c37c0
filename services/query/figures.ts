/** Sums the figures of tasks, and forms the groups for the API's answers. */
import type { FiguresGroup } from '#domain/api/figures.schema.ts'
import {
  added,
  figuresSum,
  noFigures,
  weeksOf,
  type Grouping,
  type Figures,
  type Period,
  type SummedFigures,
} from '#domain/figures.ts'
import { figuresRows, figuresView } from '#domain/views/figures.ts'
import { projectsView } from '#domain/views/projects.ts'
import { usersView } from '#domain/views/users.ts'
import type { Documents } from '#platform/reads/documents.ts'

const batch = 1_000

/** The sums over a period, for the tasks of one owner. With the owner `null`, for everybody's tasks. */
export async function sumFigures(
  documents: Pick<Documents, 'find'>,
  { owner, by, period }: { readonly owner: string | null; readonly by: Grouping; readonly period: Period },
): Promise<SummedFigures> {
  const sum = figuresSum(by, period)
  // A task that changes during the query moves to the end of the order, and would be counted twice without this set.
  const met = new Set<string>()
  for (let after = { value: period.from, id: '' }; ;) {
    const found = await documents.find(figuresView, {
      where: owner === null ? {} : { owner },
      sort: { field: 'last', direction: 'ascending' },
      limit: batch,
      after,
    })
    for (const document of found) {
      if (met.has(document.id)) continue
      met.add(document.id)
      sum.add({ ...document, days: figuresRows(document) })
    }
    const last = found.at(-1)
    if (last === undefined || found.length < batch) return sum.sums()
    after = { value: last.last, id: last.id }
  }
}

/** The groups as an answer shows them: all weeks of the period in order, or other groups sorted by cost, the highest first. */
export async function groupsOf(
  documents: Pick<Documents, 'getMany'>,
  by: Grouping,
  period: Period,
  { groups }: SummedFigures,
): Promise<readonly FiguresGroup[]> {
  if (by === 'week')
    return weeksOf(period).map((key) => ({ key, name: null, figures: groups.get(key) ?? noFigures }))
  const sorted = [...groups].toSorted(([, one], [, other]) => byCost(one, other))
  const names = await namesOf(
    documents,
    by,
    sorted.flatMap(([key]) => (key === null ? [] : [key])),
  )
  return sorted.map(([key, figures]) => ({
    key,
    name: key === null ? null : (names.get(key) ?? null),
    figures,
  }))
}

function byCost(one: Figures, other: Figures): number {
  return other.costUsd - one.costUsd || other.turns - one.turns || other.tasks - one.tasks
}

async function namesOf(
  documents: Pick<Documents, 'getMany'>,
  by: Grouping,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  switch (by) {
    case 'project':
      return named(await documents.getMany(projectsView, keys))
    case 'person':
      return named(await documents.getMany(usersView, keys))
    default:
      return new Map(keys.map((key) => [key, key]))
  }
}

function named(found: ReadonlyMap<string, { readonly name: string }>): ReadonlyMap<string, string> {
  return new Map([...found].map(([id, { name }]) => [id, name]))
}

/** The first `most` groups, and the sum of all other groups. */
export function cutGroups(groups: readonly FiguresGroup[], most: number) {
  const rest = groups.slice(most)
  const figures = rest.reduce<Figures>((sum, group) => added(sum, group.figures), noFigures)
  return {
    groups: groups.slice(0, most),
    others: rest.length === 0 ? null : { groups: rest.length, figures },
  }
}
