/**
 * The abilities (skills, commands, instructions and the like) that a task's repository has for its agent. Commits do not change, so results are
 * cached for later turns.
 */
import type { Logger } from '#platform/log.ts'
import { baseCommitOf, noAbilityFiles, readAbilityFiles, type AbilityFiles } from './git/abilityFiles.ts'
import type { Git } from './git/git.ts'
import type { Workspace } from './workspace.ts'

export interface Abilities {
  /** Reads the abilities at the commit that the task's work began from. Never rejects: a fault is logged, and mentioned in a note. */
  of(workspace: Workspace): Promise<AbilityFiles>
  /** Reads the abilities at a commit in one of our git directories. Throws `GitFault`. */
  at(gitDir: string, commit: string): Promise<AbilityFiles>
}

const keptWorkspaces = 1_000
/** The number of commits whose results are cached, each with at most 4 MiB. */
const keptCommits = 16

const unread = 'The skills and commands of the repository could not be read.'

export function openAbilities({
  git,
  logger,
}: {
  readonly git: Git
  readonly logger: Pick<Logger, 'warn'>
}): Abilities {
  const bases = new Map<string, Promise<string | null>>()
  const contents = new Map<string, Promise<AbilityFiles>>()
  const at: Abilities['at'] = (gitDir, commit) =>
    kept(contents, { key: commit, most: keptCommits }, () => readAbilityFiles(git, { gitDir, commit }))
  return {
    at,
    async of(workspace) {
      const { taskId, startCommit, privateGitDir } = workspace
      const base = { key: `${taskId}:${startCommit ?? ''}`, most: keptWorkspaces }
      try {
        const commit = await kept(bases, base, () => baseCommitOf(git, workspace))
        return commit === null ? noAbilityFiles : await at(privateGitDir, commit)
      } catch (fault) {
        logger.warn({ err: fault, taskId }, 'failed to read what a repository has for its agent')
        return { ...noAbilityFiles, notes: [unread] }
      }
    },
  }
}

/**
 * Returns the cached value of a key, or calls `read` for it. Beyond `most` values, the one that was used longest ago is dropped. Failures are not
 * cached.
 */
function kept<Value>(
  values: Map<string, Promise<Value>>,
  { key, most }: { readonly key: string; readonly most: number },
  read: () => Promise<Value>,
): Promise<Value> {
  const value = values.get(key) ?? read()
  values.delete(key)
  values.set(key, value)
  value.catch(() => values.delete(key))
  const [oldest] = values.keys()
  if (values.size > most && oldest !== undefined) values.delete(oldest)
  return value
}
