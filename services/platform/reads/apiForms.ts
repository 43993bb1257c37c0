/** Documents in the form of the API, joined with the documents that they refer to. */
import type { Project } from '#domain/api/projects.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { projectOf, projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { taskOf, tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { UserDocument } from '#domain/views/users.ts'
import type { ImageAddresses } from '#platform/images/addresses.ts'
import type { Documents } from './documents.ts'

const runningTitles = 10

export interface Presenting {
  readonly documents: Documents
  readonly imageAddresses: Pick<ImageAddresses, 'addressOf'>
}

export async function presentTask(
  { documents, imageAddresses: { addressOf } }: Presenting,
  task: TaskDocument,
): Promise<Task> {
  return taskOf(task, await documents.get(projectsView, task.projectId), addressOf)
}

/** A project with the counts of its tasks and the titles of the latest ten running tasks. A queued task does not run. */
export async function presentProject(
  documents: Documents,
  project: ProjectDocument,
  user: UserDocument,
): Promise<Project> {
  const ofProject = { projectId: project.id }
  const running = { ...ofProject, status: 'running' }
  const [totalTasks, completedTasks, latest] = await Promise.all([
    documents.count(tasksView, ofProject),
    documents.count(tasksView, { ...ofProject, status: 'completed' }),
    documents.find(tasksView, {
      where: running,
      sort: { field: 'order', direction: 'descending' },
      limit: runningTitles,
    }),
  ])
  const isCut = latest.length === runningTitles
  const runningTasks = isCut ? await documents.count(tasksView, running) : latest.length
  const stats = { totalTasks, completedTasks, runningTasks, runningTitles: latest.map((task) => task.title) }
  return projectOf(project, { stats, login: user.githubUsername, now: new Date() })
}
