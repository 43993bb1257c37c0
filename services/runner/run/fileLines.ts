/** Answers lines of a file as it was before a task changed it, where this runner has the task's workspace. */
import { tasksView } from '#domain/views/tasks.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { Requests } from '#platform/ports/requests.ts'
import type { PreparingParts } from '../parts.ts'
import { readLines } from '../workspace/fileLines.ts'
import { hasWorkspace, privateGitOf } from '../workspace/workspace.ts'

/** More at once are left unanswered; who asked may ask again. */
const mostAtOnce = 4

type Parts = Pick<PreparingParts, 'root' | 'git' | 'documents' | 'access' | 'codeHost'>

/** Until the returned function is called. The one who asks has checked whose task it is. */
export function answerLines(parts: Parts, requests: Requests): () => void {
  let underWay = 0
  return requests.answer('lines', async (asked) => {
    if (underWay >= mostAtOnce || !(await hasWorkspace(parts.root, asked.taskId))) return undefined
    underWay += 1
    try {
      return (await mayStillRead(parts, asked.taskId))
        ? await readLines(parts.git, { ...asked, gitDir: privateGitOf(parts.root, asked.taskId) })
        : undefined
    } finally {
      underWay -= 1
    }
  })
}

/** The code host throws where the person's access was taken away. */
async function mayStillRead({ documents, access, codeHost }: Parts, taskId: string): Promise<boolean> {
  const task = await documents.get(tasksView, taskId)
  const project = task && (await documents.get(projectsView, task.projectId))
  if (!task || !project) return false
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  await codeHost.repository(await access.tokenOf(task.owner), repository)
  return true
}
