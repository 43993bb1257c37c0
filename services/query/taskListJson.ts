/** The JSON texts of tasks in lists. A text is kept as long as the document that it shows, so a list is mostly put together from kept texts. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { listTasks } from '#domain/api/tasks.schema.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { taskOf, type TaskDocument } from '#domain/views/tasks.ts'
import type { Engines } from '#platform/compose.ts'
import type { JsonText } from '#platform/http/route.ts'

export interface TaskTexts {
  /** The answer of `listTasks`, with the tasks in the given order. */
  list(tasks: readonly TaskDocument[], next: string | null): Promise<JsonText<AnswerOf<typeof listTasks>>>
}

interface Text {
  readonly project: ProjectDocument | undefined
  readonly bytes: Buffer
}

const begin = Buffer.from('{"tasks":[')
const between = Buffer.from(',')

export function taskTexts({
  documents,
  imageAddresses: { addressOf },
}: Pick<Engines, 'documents' | 'imageAddresses'>): TaskTexts {
  const kept = new WeakMap<TaskDocument, Text>()
  const bytesOf = (task: TaskDocument, project: ProjectDocument | undefined): Buffer => {
    const known = kept.get(task)
    if (known !== undefined && known.project === project) return known.bytes
    const bytes = Buffer.from(JSON.stringify(taskOf(task, project, addressOf)))
    // The addresses of images expire.
    if (task.images.length === 0) kept.set(task, { project, bytes })
    return bytes
  }
  return {
    async list(tasks, next) {
      const projectIds = [...new Set(tasks.map(({ projectId }) => projectId))]
      const projects = await documents.getMany(projectsView, projectIds)
      const pieces = tasks.flatMap((task) => [between, bytesOf(task, projects.get(task.projectId))])
      return Buffer.concat([begin, ...pieces.slice(1), Buffer.from(`],"next":${JSON.stringify(next)}}`)])
    },
  }
}
