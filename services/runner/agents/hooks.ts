/**
 * The hooks in a repository's settings of `claude`: reads them, decides whether they may run, and says why they stay off. No hook is run here, and
 * nothing else of the settings is used.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { RepositoryHook, type RepositoryHooks } from '#domain/api/projectSettings.schema.ts'
import { settingsLimits } from '#domain/project/settings.ts'
import { jsonOf } from '#platform/json.ts'
import { settingsFile, type AbilityFiles } from '../workspace/git/abilityFiles.ts'

const Settings = z.object({ hooks: z.unknown() })
const { event, matcher, hook } = RepositoryHook.shape
const Hooks = z.record(event, z.array(z.strictObject({ matcher, hooks: z.array(hook) })))

/** The hooks of a commit, or why none of them can be allowed; `null` when it has none. */
export function hooksIn({ files, leftOut }: Omit<AbilityFiles, 'notes'>): RepositoryHooks | null {
  if (leftOut.includes(settingsFile))
    return refused('the file was left out, since it is no plain file, too large, or one of too many')
  const content = files.find(({ path }) => path === settingsFile)?.content
  const settings = Settings.safeParse(content && jsonOf(content))
  if (content === undefined || settings.data?.hooks === undefined) return null
  const read = Hooks.safeParse(settings.data.hooks)
  if (!read.success) return refused('some run no command, or have options that are not known here')
  const hooks = Object.entries(read.data).flatMap(([name, groups]) =>
    groups.flatMap(({ hooks: grouped, ...group }) =>
      grouped.map((one) => ({ event: name, ...group, hook: one })),
    ),
  )
  if (hooks.length === 0) return null
  if (hooks.length > settingsLimits.hooks) return refused(`they are more than ${settingsLimits.hooks}`)
  return { kind: 'shown', hash: createHash('sha256').update(content).digest('hex'), hooks }
}

const refused = (reason: string) => ({ kind: 'refused' as const, reason })

/** All hooks in the settings file if `allowed` is the hash of the file; otherwise none. */
export function allowedHooks(found: AbilityFiles, allowed: string | null): readonly RepositoryHook[] {
  const hooks = hooksIn(found)
  return hooks?.kind === 'shown' && hooks.hash === allowed ? hooks.hooks : []
}

/** A list with one sentence, which says why the repository's hooks stay off. The list is empty when there are no hooks, or when they are allowed. */
export function hooksNote(found: AbilityFiles, allowed: string | null): readonly string[] {
  const hooks = hooksIn(found)
  if (hooks === null || (hooks.kind === 'shown' && hooks.hash === allowed)) return []
  const why =
    hooks.kind === 'refused'
      ? hooks.reason
      : `the project's owner has not allowed this version (SHA-256 ${hooks.hash.slice(0, 12)}) in the project's settings`
  return [`The hooks in the repository's ${settingsFile} stay off: ${why}.`]
}
