/** Removes the workspaces that a restore of the log has made invalid. */
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogIdentity } from '#domain/log.ts'
import { ifAbsent } from '#platform/files.ts'
import type { Logger } from '#platform/log.ts'
import { isTaskFolderName } from './names.ts'
import { removeWorkspace } from './workspace.ts'

/**
 * Removes all workspaces and kept sessions below `root` if the log was restored since this runner's last start: they contain work that the log does
 * not know any more. Each task's next run begins with the work that the log knows. Nothing may run in the workspaces.
 */
export async function removeAfterRestore({
  root,
  path,
  logIdentity: { logId, epoch },
  logger,
}: {
  readonly root: string
  readonly path: string
  readonly logIdentity: LogIdentity
  readonly logger: Logger
}): Promise<void> {
  const file = join(root, `epoch-${logId}`)
  const known = Number.parseInt((await readFile(file, 'utf8').catch(ifAbsent)) ?? '', 10)
  if (known >= epoch) return
  // A folder without the file may have workspaces of an earlier version of the server.
  if (known < epoch) {
    const taskIds = ((await readdir(join(root, 'tasks')).catch(ifAbsent)) ?? []).filter(isTaskFolderName)
    logger.warn({ epoch, workspaces: taskIds.length }, 'the log was restored: removing all workspaces')
    for (const taskId of taskIds) await removeWorkspace(root, taskId, path)
  }
  // Written last and as a whole, so that an interrupted removal is repeated.
  await writeFile(`${file}.half`, String(epoch), { flush: true })
  await rename(`${file}.half`, file)
}
