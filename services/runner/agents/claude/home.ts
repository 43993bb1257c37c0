/** The files in the home of `claude`. */
import { instructionFiles, nestedInstructions, nothingBrought, unreplaced } from '../home.ts'
import type { Brought, HomeFile } from '../port.ts'

/** The folders in which a repository or a person has skills, commands and agents for `claude`. */
export const claudeFolders = ['.claude/skills', '.claude/commands', '.claude/agents', '.claude/rules']

/**
 * The files of the home. Only the user's settings are read, since a repository's could run commands. That leaves out the repository's instructions as
 * well, so the user's `CLAUDE.md` includes those `instructionFiles` that are `present`. `workspace` is the path of the repository in the sandbox.
 */
export function claudeHome(
  present: ReadonlySet<string>,
  workspace = '/workspace',
  brought: Brought = nothingBrought,
): readonly HomeFile[] {
  const own = brought.instructions === '' ? '' : `${brought.instructions}\n\n`
  const includes = instructionFiles
    .filter((file) => present.has(file))
    .map((file) => `@${workspace}/${file}\n`)
  return [
    { path: '.claude/CLAUDE.md', content: `${own}${includes.join('')}`, onlyOnce: false },
    { path: '.claude/settings.json', content: settingsWith(brought.hooks), onlyOnce: false },
    { path: '.claude.json', content: `${JSON.stringify(state, null, 2)}\n`, onlyOnce: true },
    ...brought.files
      .filter(({ path }) => claudeFolders.some((folder) => path.startsWith(`${folder}/`)))
      .map((file) => ({ ...file, onlyOnce: false })),
    ...unreplaced(brought).map(({ name, description, text }) => ({
      path: `.claude/commands/${name}.md`,
      content: `---\ndescription: ${JSON.stringify(description)}\n---\n${text}`,
      onlyOnce: false,
    })),
    ...nestedRules(brought),
  ]
}

/** Makes the instructions of a folder a rule for that folder's files, since an include would be read at the start. */
function nestedRules(brought: Brought): readonly HomeFile[] {
  return nestedInstructions(brought).map(({ folder, path, text }, index) => ({
    path: `.claude/rules/of-folders/${index}.md`,
    content: `---\npaths:\n  - ${JSON.stringify(`${literally(folder)}/**`)}\n---\nFrom ${path} of this repository:\n\n${text}`,
    onlyOnce: false,
  }))
}

/** The path as a glob pattern that matches only this path. */
const literally = (path: string): string => path.replaceAll(/[*?[\]{}()!+@,"]/g, '?')

/** Our settings with the hooks that the project's owner allowed. */
function settingsWith(hooks: Brought['hooks'] = []): string {
  const groups = new Map(hooks.map(({ event }) => [event, [] as object[]]))
  for (const { event, hook, ...group } of hooks) groups.get(event)?.push({ ...group, hooks: [hook] })
  const all = hooks.length === 0 ? settings : { ...settings, hooks: Object.fromEntries(groups) }
  return `${JSON.stringify(all, null, 2)}\n`
}

const settings = {
  // A task's commits belong to the person, who decides whom to credit.
  includeCoAuthoredBy: false,
  skipDangerousModePermissionPrompt: true,
  // The preflight would ask claude.ai about each host, which no sandbox can reach. The project's list of hosts decides instead.
  skipWebFetchPreflight: true,
}
const state = { hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true }
