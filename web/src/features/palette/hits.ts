/** The hits of the palette: the tasks, projects and actions that match the query. Pure. */
import type { Project } from '#domain/api/projects.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { actions, type ActionId } from '../../actions/actions.ts'
import { safeLink } from '../../ui/text/safeLink.ts'
import { match, type Match } from './fuzzyMatch.ts'
import { texts } from './texts.ts'

export type Hit = {
  /** Unique in the list, and usable in an element id. */
  readonly key: string
  readonly label: string
  readonly marks: Match['marks']
} & (
  | { readonly kind: 'task'; readonly task: Task; readonly to: string }
  | { readonly kind: 'project'; readonly project: Project; readonly to: string }
  | { readonly kind: 'action'; readonly id: ActionId; readonly keys: readonly string[] }
  | { readonly kind: 'new-task'; readonly project: Project }
  | { readonly kind: 'outside'; readonly href: string }
)

interface HitGroup {
  readonly name: string
  readonly hits: readonly Hit[]
}

interface PaletteInput {
  readonly query: string
  readonly tasks: readonly Task[]
  readonly projects: readonly Project[]
  /** The actions that are available on the page now. */
  readonly offered: readonly ActionId[]
}

/** The most tasks and the most projects among the hits. Before anything is typed there are fewer of them, so that the actions are in view. */
const maxTasks = { initial: 4, searching: 6 }
const maxProjects = { initial: 2, searching: 4 }
/** The most projects for which each action on a project is listed. */
const maxActionProjects = 2

export function hitsOf({ query, tasks, projects, offered }: PaletteInput): readonly HitGroup[] {
  const phase = query.trim() === '' ? 'initial' : 'searching'
  const groups: readonly HitGroup[] = [
    {
      name: texts.groups.tasks,
      hits: best(tasks, ({ title }) => title, query)
        .slice(0, maxTasks[phase])
        .map(({ item: task, ...found }) => ({
          ...found,
          kind: 'task',
          key: `task-${task.id}`,
          task,
          to: `/tasks/${task.id}`,
        })),
    },
    {
      name: texts.groups.projects,
      hits: best(projects, nameOf, query)
        .slice(0, maxProjects[phase])
        .map(({ item: project, ...found }) => ({
          ...found,
          kind: 'project',
          key: `project-${project.id}`,
          project,
          to: `/projects/${project.id}`,
        })),
    },
    {
      name: texts.groups.actions,
      hits: [
        ...actionHits(offered, query),
        ...(phase === 'searching' ? projectActionHits(projects, query) : []),
      ],
    },
  ]
  return groups.filter(({ hits }) => hits.length > 0)
}

function actionHits(offered: readonly ActionId[], query: string): Hit[] {
  // Leaves out the action that opens the palette, since the palette is open.
  const available = actions.filter(({ id }) => id !== 'palette' && offered.includes(id))
  return best(available, ({ label }) => label, query).map(({ item: { id, keys }, ...found }) => ({
    ...found,
    kind: 'action',
    key: `action-${id}`,
    id,
    keys,
  }))
}

/** The actions for the projects that match best. */
function projectActionHits(projects: readonly Project[], query: string): Hit[] {
  const bestFor = (labelOf: (name: string) => string) =>
    best(projects, (project) => labelOf(nameOf(project)), query).slice(0, maxActionProjects)
  return [
    ...bestFor(texts.newTaskIn).map(({ item: project, ...found }): Hit => ({
      ...found,
      kind: 'new-task',
      key: `new-${project.id}`,
      project,
    })),
    ...bestFor(texts.openOutside).flatMap(({ item: project, ...found }): Hit[] => {
      const href = safeLink(project.githubUrl)
      return href === null ? [] : [{ ...found, kind: 'outside', key: `outside-${project.id}`, href }]
    }),
  ]
}

function nameOf({ githubOwner, githubRepoName, name }: Project): string {
  return githubRepoName === '' ? name : `${githubOwner}/${githubRepoName}`
}

/** The items whose label matches the query: better matches first, equally good ones in the given order. */
function best<Item>(items: readonly Item[], labelOf: (item: Item) => string, query: string) {
  return items
    .flatMap((item) => {
      const label = labelOf(item)
      const found = match(label, query)
      return found === null ? [] : [{ item, label, marks: found.marks, score: found.score }]
    })
    .toSorted((a, b) => b.score - a.score)
    .map(({ score: _score, ...found }) => found)
}
