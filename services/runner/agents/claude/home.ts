/** Makes the files that `claude` finds in its home. */
import { instructionFiles, nestedInstructions, nothingBrought, unreplaced } from '../home.ts'
import type { Brought, HomeFile } from '../port.ts'

/** The folders with skills, commands, agents and rules for `claude`, in a repository or in a home. */
export const claudeFolders = ['.claude/skills', '.claude/commands', '.claude/agents', '.claude/rules']

/**
 * The files of the home. claude may read only the settings in its home, because a repository's settings could run commands. With this restriction
 * claude also skips the repository's instructions. So `CLAUDE.md` in the home includes the `instructionFiles` that are `present`. `workspace` is the
 * path of the repository in the sandbox.
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

/**
 * Turns the instructions in each nested folder into a rule for that folder's files. claude reads a rule only when it opens one of these files. If
 * `CLAUDE.md` included the instructions instead, claude would read all of them at the start.
 */
function nestedRules(brought: Brought): readonly HomeFile[] {
  return nestedInstructions(brought).map(({ folder, path, text }, index) => ({
    path: `.claude/rules/of-folders/${index}.md`,
    content: `---\npaths:\n  - ${JSON.stringify(`${literally(folder)}/**`)}\n---\nFrom ${path} of this repository:\n\n${text}`,
    onlyOnce: false,
  }))
}

/** The path as a glob pattern. Characters with a special meaning become `?`, which matches any one character. */
const literally = (path: string): string => path.replaceAll(/[*?[\]{}()!+@,"]/g, '?')

/** Our settings, with the hooks that the project's owner allowed. */
function settingsWith(hooks: Brought['hooks'] = []): string {
  const groups = new Map(hooks.map(({ event }) => [event, [] as object[]]))
  for (const { event, hook, ...group } of hooks) groups.get(event)?.push({ ...group, hooks: [hook] })
  const all = hooks.length === 0 ? settings : { ...settings, hooks: Object.fromEntries(groups) }
  return `${JSON.stringify(all, null, 2)}\n`
}

const settings = {
  // No line credits claude: a task's commits belong to the person, who decides whom to credit.
  includeCoAuthoredBy: false,
  skipDangerousModePermissionPrompt: true,
  // Without this setting, claude would first ask claude.ai about each host. No sandbox can reach claude.ai. The project's list of hosts decides
  // instead.
  skipWebFetchPreflight: true,
}
// When claude starts, it adds each of these notes that is missing, except the first, and waits for the disk each time.
const state = {
  hasCompletedOnboarding: true,
  opusProMigrationComplete: true,
  seenNotifications: {},
  hasResetAutoModeOptInForDefaultOffer: true,
  migrationVersion: 15,
}
