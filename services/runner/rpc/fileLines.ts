/** Answers lines of a file as it was before a task changed it, where this runner has the task's workspace. */
import { tasksView } from '#domain/views/tasks.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { readLines } from '../workspace/changes/fileLines.ts'
import { hasWorkspace, privateGitOf } from '../workspace/workspace.ts'

/** More at once are left unanswered; who asked may ask again. */
const mostAtOnce = 4

type Deps = Pick<WorkspaceDeps, 'root' | 'git' | 'documents' | 'access' | 'codeHost'>

/** Until the returned function is called. The one who asks has checked whose task it is. */
export function answerLines(deps: Deps, rpc: Rpc): () => void {
  let underWay = 0
  return rpc.answer('lines', async (asked) => {
    if (underWay >= mostAtOnce || !(await hasWorkspace(deps.root, asked.taskId))) return undefined
    underWay += 1
    try {
      return (await mayStillRead(deps, asked.taskId))
        ? await readLines(deps.git, { ...asked, gitDir: privateGitOf(deps.root, asked.taskId) })
        : undefined
    } finally {
      underWay -= 1
    }
  })
}

/** The code host throws where the person's access was taken away. */
async function mayStillRead({ documents, access, codeHost }: Deps, taskId: string): Promise<boolean> {
  const task = await documents.get(tasksView, taskId)
  const project = task && (await documents.get(projectsView, task.projectId))
  if (!task || !project) return false
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  await codeHost.repository(await access.tokenOf(task.owner), repository)
  return true
}
