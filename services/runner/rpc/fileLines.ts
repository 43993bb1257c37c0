/** Lines of a file as it was before a task changed it. */
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { readLines } from '../workspace/changes/fileLines.ts'
import { privateGitOf } from '../workspace/workspace.ts'

export type LinesDeps = Pick<WorkspaceDeps, 'root' | 'git' | 'documents' | 'access' | 'codeHost'>

export async function linesOf(
  deps: LinesDeps,
  asked: Asked<'lines'>,
): Promise<Answered<'lines'> | undefined> {
  return (await mayStillRead(deps, asked.taskId))
    ? readLines(deps.git, { ...asked, gitDir: privateGitOf(deps.root, asked.taskId) })
    : undefined
}

/** The code host throws where the person's access was taken away. */
async function mayStillRead({ documents, access, codeHost }: LinesDeps, taskId: string): Promise<boolean> {
  const task = await documents.get(tasksView, taskId)
  const project = task && (await documents.get(projectsView, task.projectId))
  if (!task || !project) return false
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  await codeHost.repository(await access.tokenOf(task.owner), repository)
  return true
}
