/** The files of a task: route, limits, and which paths can be asked for. */
import type { Routes } from './route.ts'

export const taskFileRoutes = {
  findTaskFiles: { method: 'GET', path: '/tasks/:taskId/files' },
} as const satisfies Routes

export const taskFileLimits = {
  pathLength: 4_096,
  /** The most entries of a folder that are listed. */
  entries: 1_000,
  /** The most UTF-16 code units of a shown text. */
  textLength: 512 * 1_024,
  /** The most bytes of an image that is shown. */
  imageBytes: 10_000_000,
  /** The most bytes of a file that can be downloaded. */
  downloadBytes: 8 * 1_024 * 1_024,
} as const

/** Whether the path may be read in a repository. `''` is the repository's top folder. Paths into `.git` or out of the repository are refused. */
export function isRepositoryPath(path: string): boolean {
  return (
    path === '' ||
    path
      .split('/')
      .every((name) => name !== '' && name !== '.' && name !== '..' && name.toLowerCase() !== '.git')
  )
}
