/** What `claude` finds in its home. */
import { instructionFiles } from '../home.ts'
import type { HomeFile } from '../port.ts'

/**
 * Only the user's settings are read, since a repository's could run commands. That leaves out the repository's instructions as well, so the user's
 * `CLAUDE.md` includes those `instructionFiles` that are `present`. `workspace` is where the sandbox has the repository.
 */
export function claudeHome(present: ReadonlySet<string>, workspace = '/workspace'): readonly HomeFile[] {
  const includes = instructionFiles
    .filter((file) => present.has(file))
    .map((file) => `@${workspace}/${file}\n`)
  return [
    { path: '.claude/CLAUDE.md', content: includes.join(''), onlyOnce: false },
    { path: '.claude/settings.json', content: `${JSON.stringify(settings, null, 2)}\n`, onlyOnce: false },
    { path: '.claude.json', content: `${JSON.stringify(state, null, 2)}\n`, onlyOnce: true },
  ]
}

const settings = {
  // The commits of a task are the person's, who decides whom to credit.
  includeCoAuthoredBy: false,
  skipDangerousModePermissionPrompt: true,
  // The preflight would ask claude.ai about each host, which no sandbox reaches. The project's list of hosts decides instead.
  skipWebFetchPreflight: true,
}
const state = { hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true }
