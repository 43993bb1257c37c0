/** The files of a task: what is at a path, and which paths contain a search. */
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
  /** `repository`: a folder with a repository of its own. `other`: no plain file, for example a pipe. */
  kind: z.enum(['folder', 'file', 'link', 'repository', 'other']),
  /** The size of a file in bytes. */
  size: z.number().nullable(),
  /** Where a link leads, which is never followed. A long target is cut. */
  target: z.string().nullable(),
  /** Whether the name can be a part of `path`. */
  opens: z.boolean(),
})
export type FileEntry = z.infer<typeof FileEntry>

export const TaskFile = z.object({
  path: z.string(),
  kind: z.enum(['text', 'image', 'binary', 'link', 'repository', 'other']),
  size: z.number().nullable(),
  target: z.string().nullable(),
  /** The type of an image. */
  mediaType: z.string().nullable(),
  /** The text, or an image in base64, written again without anything but its pixels. With `download`, the file in base64; `null` if it is too large. */
  content: z.string().nullable(),
  /** Whether `content` is only the beginning. */
  cut: z.boolean(),
  /** Whether secrets were removed from `content`. */
  redacted: z.boolean(),
})
export type TaskFile = z.infer<typeof TaskFile>

/** Where the files were read: in the workspace, in what was saved after a turn, or in a branch as last fetched: that of the task, or its base. */
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
    /** Asks for a whole file. */
    download: z.literal('true').optional(),
  },
  answer: {
    /** The paths that were searched for. */
    files: FoundFiles.optional(),
    /** The entries of a folder, folders first, at most 1,000. */
    entries: z.array(FileEntry).optional(),
    /** How many more entries the folder has. */
    leftOut: z.number().optional(),
    file: TaskFile.optional(),
    /** Missing in an answer to a search. */
    from: FilesFrom.optional(),
  },
  faults: ['not_found', 'not_initialized'],
})
