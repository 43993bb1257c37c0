/** The files of a task: reading a file or folder, and searching for files by path. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { saying } from '../kernel/readInput.ts'
import { FileSearch, FoundFiles } from './abilities.schema.ts'
import { defineRead } from './call.schema.ts'
import { Text } from './fields.schema.ts'
import { isRepositoryPath, taskFileLimits, taskFileRoutes } from './taskFiles.ts'

export const FileEntry = z.object({
  /** Bytes that are not UTF-8 are replaced by U+FFFD. */
  name: z.string(),
  /** `repository`: a folder with a git repository of its own. `other`: something like a pipe or a device. */
  kind: z.enum(['folder', 'file', 'link', 'repository', 'other']),
  /** The size of a file in bytes. */
  size: z.number().nullable(),
  /** The target of a symbolic link, cut if it is long. Links are never followed. */
  target: z.string().nullable(),
  /** Whether the entry can be opened: whether its name can be a part of the parameter `path`. */
  opens: z.boolean(),
})
export type FileEntry = z.infer<typeof FileEntry>

export const TaskFile = z.object({
  path: z.string(),
  kind: z.enum(['text', 'image', 'binary', 'link', 'repository', 'other']),
  size: z.number().nullable(),
  target: z.string().nullable(),
  /** The media type of an image; `null` for other files. */
  mediaType: z.string().nullable(),
  /**
   * The text of the file, or an image in base64, encoded again so that only its pixels remain. With `download`, the bytes of the file in base64.
   * `null` if nothing can be shown, or if the download is too large.
   */
  content: z.string().nullable(),
  /** Whether `content` is only the beginning, or is missing because the download is too large. */
  cut: z.boolean(),
  /** Whether secrets were removed from `content`. */
  redacted: z.boolean(),
})
export type TaskFile = z.infer<typeof TaskFile>

/** Where the files were read: in the workspace, in the copy saved after a turn, or in the task's branch (`pushed`) or base branch as last fetched. */
export const FilesFrom = z.object({
  kind: z.enum(['workspace', 'saved', 'pushed', 'base']),
  branch: z.string(),
})
export type FilesFrom = z.infer<typeof FilesFrom>

export const findTaskFiles = defineRead(taskFileRoutes.findTaskFiles, {
  summary:
    'With `path`, the entries of a folder of the task or a file; otherwise at most 30 files whose path contains the search. Ignored files are left out.',
  params: z.object({ taskId: TaskId }),
  query: {
    search: FileSearch,
    /** A path in the repository; empty for its top folder. */
    path: Text.max(taskFileLimits.pathLength)
      .refine(isRepositoryPath, { error: saying('is not a path within the repository.') })
      .optional(),
    /** Set to get the whole file, for a download. */
    download: z.literal('true').optional(),
  },
  answer: {
    /** The paths that the search found. */
    files: FoundFiles.optional(),
    /** The entries of a folder, folders first, at most 1,000. */
    entries: z.array(FileEntry).optional(),
    /** How many more entries the folder has. */
    leftOut: z.number().optional(),
    file: TaskFile.optional(),
    /** Where the files were read; missing in the answer to a search. */
    from: FilesFrom.optional(),
  },
  faults: ['not_found', 'not_initialized'],
})
