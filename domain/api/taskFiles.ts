/** The files of a task: route, limits, and which paths can be asked for. */
import type { Routes } from './route.ts'

export const taskFileRoutes = {
  findTaskFiles: { method: 'GET', path: '/tasks/:taskId/files' },
} as const satisfies Routes

export const taskFileLimits = {
  pathLength: 4_096,
  /** How many entries of a folder are listed. */
  entries: 1_000,
  /** How many bytes of a text are shown. */
  textBytes: 512 * 1_024,
  /** The largest image that is shown, and the largest file that can be downloaded, in bytes. */
  imageBytes: 10_000_000,
  downloadBytes: 8 * 1_024 * 1_024,
} as const

/** Whether a path names something in a repository; '' is the top folder. Git's own folder is not part of one, and no path leads out of it. */
export function isRepositoryPath(path: string): boolean {
  return (
    path === '' ||
    path
      .split('/')
      .every((name) => name !== '' && name !== '.' && name !== '..' && name.toLowerCase() !== '.git')
  )
}
