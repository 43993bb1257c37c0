/**
 * A file in a task's folder that names the task's open shell. If a process finds such a file at its start, an earlier process was killed: the new
 * process records that the shell has ended, unless another runner ran the task last.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TerminalSize } from '#domain/api/shell.schema.ts'
import { ExecutionId } from '#domain/kernel/ids.schema.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { parseJson, taskFolder } from '../workspace/workspace.ts'

const MarkedShell = z.object({ shellId: ExecutionId, size: TerminalSize })
type MarkedShell = z.infer<typeof MarkedShell>

const markerOf = (root: string, taskId: string): string => join(taskFolder(root, taskId), 'shell.json')

export async function markShell(root: string, taskId: string, shell: MarkedShell): Promise<void> {
  await writeFile(markerOf(root, taskId), JSON.stringify(shell))
}

export async function unmarkShell(root: string, taskId: string): Promise<void> {
  await rm(markerOf(root, taskId), { force: true })
}

export async function markedShells(
  root: string,
): Promise<readonly (MarkedShell & { readonly taskId: string })[]> {
  const taskIds = (await readdir(join(root, 'tasks')).catch(() => [])).filter(isTaskFolderName)
  const found = taskIds.map(async (taskId) => {
    const written = await readFile(markerOf(root, taskId), 'utf8').catch(() => '')
    const { data } = MarkedShell.safeParse(parseJson(written))
    return data ? [{ taskId, ...data }] : []
  })
  return (await Promise.all(found)).flat()
}
