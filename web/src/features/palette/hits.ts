/** What the palette lists: tasks, projects and what can be done, as far as they match. Pure. */
import type { Project } from '#domain/api/projects.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { actions, type ActionId } from '../../actions/actions.ts'
import { safeLink } from '../../ui/text/safeLink.ts'
import { match, type Match } from './match.ts'
import { texts } from './texts.ts'

export type Hit = {
  /** Unique in the list, and fit for an id of the page. */
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

export interface HitGroup {
  readonly name: string
  readonly hits: readonly Hit[]
}

interface Known {
  readonly query: string
  readonly tasks: readonly Task[]
  readonly projects: readonly Project[]
  /** What can be done on the page now. */
  readonly offered: readonly ActionId[]
}

/** Rows of a group; before anything is typed there is less of it, so that the actions are in sight. */
const tasksShown = { first: 4, searching: 6 }
const projectsShown = { first: 2, searching: 4 }
/** Projects that what can be done is offered for. */
const projectsOffered = 2

export function hitsOf({ query, tasks, projects, offered }: Known): readonly HitGroup[] {
  const typed = query.trim() !== ''
  const extent = typed ? 'searching' : 'first'
  const foundProjects = best(projects, nameOf, query).slice(0, projectsShown[extent])
  const ofProjects = (labelOf: (name: string) => string) =>
    typed
      ? best(projects, (project) => labelOf(nameOf(project)), query)
          .slice(0, projectsOffered)
          .map((found) => ({ ...found, label: labelOf(nameOf(found.item)) }))
      : []
  const groups: readonly HitGroup[] = [
    {
      name: texts.groups.tasks,
      hits: best(tasks, ({ title }) => title, query)
        .slice(0, tasksShown[extent])
        .map(({ item: task, marks }) => ({
          kind: 'task',
          key: `task-${task.id}`,
          label: task.title,
          marks,
          task,
          to: `/tasks/${task.id}`,
        })),
    },
    {
      name: texts.groups.projects,
      hits: foundProjects.map(({ item: project, marks }) => ({
        kind: 'project',
        key: `project-${project.id}`,
        label: nameOf(project),
        marks,
        project,
        to: `/projects/${project.id}`,
      })),
    },
    {
      name: texts.groups.actions,
      hits: [
        ...best(
          // The palette is what is open.
          actions.filter(({ id }) => id !== 'palette' && offered.includes(id)),
          ({ label }) => label,
          query,
        ).map(({ item: { id, label, keys }, marks }): Hit => ({
          kind: 'action',
          key: `action-${id}`,
          label,
          marks,
          id,
          keys,
        })),
        ...ofProjects(texts.newTaskIn).map(({ item: project, label, marks }): Hit => ({
          kind: 'new-task',
          key: `new-${project.id}`,
          label,
          marks,
          project,
        })),
        ...ofProjects(texts.openOutside).flatMap(({ item: project, label, marks }): Hit[] => {
          const href = safeLink(project.githubUrl)
          return href === null ? [] : [{ kind: 'outside', key: `outside-${project.id}`, label, marks, href }]
        }),
      ],
    },
  ]
  return groups.filter(({ hits }) => hits.length > 0)
}

function nameOf({ githubOwner, githubRepoName, name }: Project): string {
  return githubRepoName === '' ? name : `${githubOwner}/${githubRepoName}`
}

/** Those that match, the best first, and else in the order they came in. */
function best<Item>(items: readonly Item[], textOf: (item: Item) => string, query: string) {
  return items
    .flatMap((item) => {
      const found = match(textOf(item), query)
      return found === null ? [] : [{ item, ...found }]
    })
    .toSorted((a, b) => b.score - a.score)
}
