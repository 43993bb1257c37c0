/** Makes the files that `codex` finds in its home. */
import { instructionFiles, nestedInstructions, nothingBrought, unreplaced } from '../home.ts'
import { abilitiesIn } from '../abilities.ts'
import type { Brought, HomeFile } from '../port.ts'

/** The folder of the home for skills from a repository or a person. codex keeps its own skills in another folder, in `.codex`. */
export const codexSkills = '.agents/skills'

/**
 * The folder of the home with rules for commands. The rules name the commands that codex may run without asking, even in the mode in which it asks.
 */
export const codexRules = '.codex/rules'

/** The environment variable that holds the run's token for the broker. */
export const tokenVariable = 'FLIGHTDECK_RUN_TOKEN'

/**
 * The files of the home. codex is told not to trust the repository's configuration, which could name programs to run. codex then does not read the
 * repository's instructions either. So `AGENTS.md` in the home names the instruction files that are `present`.
 */
export function codexHome(
  present: ReadonlySet<string>,
  workspace = '/workspace',
  brought: Brought = nothingBrought,
): readonly HomeFile[] {
  const own = brought.instructions === '' ? '' : `${brought.instructions}\n\n`
  const files = instructionFiles.filter((file) => present.has(file)).map((file) => `${workspace}/${file}`)
  const instructions =
    files.length === 0
      ? ''
      : `Read ${files.join(' and ')} before you begin, and follow the instructions for this repository there.\n`
  return [
    {
      path: '.codex/AGENTS.md',
      content: [own, instructions, nestedIn(brought, workspace)].join(''),
      onlyOnce: false,
    },
    { path: '.codex/config.toml', content: configuration(workspace), onlyOnce: false },
    { path: `${codexRules}/reading.rules`, content: readingRules, onlyOnce: false },
    ...skills(brought),
  ]
}

function nestedIn(brought: Brought, workspace: string): string {
  const nested = nestedInstructions(brought)
  if (nested.length === 0) return ''
  const lines = nested.map(({ folder, path }) => `- ${workspace}/${path}, for files in ${folder}/\n`)
  return `Before you work in one of these folders, read its own instructions:\n${lines.join('')}`
}

/**
 * Makes skills for codex: the skills of the repository, and one skill for each command of the repository or the person. A user cannot define commands
 * for codex.
 */
function skills(brought: Brought): readonly HomeFile[] {
  const { files } = brought
  const byPath = new Map(files.map((file) => [file.path, file]))
  const names = new Set(abilitiesIn(files).flatMap(({ kind, name }) => (kind === 'skill' ? [name] : [])))
  const commands = abilitiesIn(files).flatMap(({ kind, name, description }) => {
    const file = byPath.get(`.claude/commands/${name.replaceAll(':', '/')}.md`)
    if (kind !== 'command' || names.has(name) || file === undefined) return []
    return [{ name, description, text: file.content.toString('utf8').replace(/^---\r?\n.*?\n---\r?\n/s, '') }]
  })
  return [
    ...files
      .filter(({ path }) => path.startsWith('.claude/skills/'))
      .map((file) => ({
        ...file,
        path: file.path.replace('.claude/skills', codexSkills),
        onlyOnce: false,
      })),
    ...[...commands, ...unreplaced(brought)].map(({ name, description, text }) => ({
      path: `${codexSkills}/${name.replaceAll(':', '-')}/SKILL.md`,
      content: `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description || name)}\n---\n${text}`,
      onlyOnce: false,
    })),
  ]
}

/** Programs that only read, whatever their arguments, so codex may run them without asking. */
const reading = ['cat', 'cd', 'echo', 'grep', 'head', 'ls', 'nl', 'pwd', 'stat', 'tail', 'wc', 'which']
const readingRules = reading
  .map((program) => `prefix_rule(pattern = ["${program}"], decision = "allow")\n`)
  .join('')

/**
 * The configuration file of codex. With it, codex reaches only its model and sends no telemetry. It also sends its requests as plain JSON, which the
 * broker can read.
 */
const configuration = (workspace: string): string => `model_provider = "flightdeck"
check_for_update_on_startup = false
web_search = "disabled"
model_reasoning_summary = "auto"
suppress_unstable_features_warning = true

[tools.update_plan]
enabled = true

[model_providers.flightdeck]
name = "Flightdeck"
base_url = "http://127.0.0.1:1/v1"
env_key = "${tokenVariable}"
wire_api = "responses"
request_max_retries = 3
stream_max_retries = 3

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[history]
persistence = "none"

[agents]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false
image_generation = false
browser_use = false
computer_use = false
hooks = false
daemon_auto_start = false
enable_request_compression = false
goals = false
realtime_conversation = false
tool_suggest = false
skill_mcp_dependency_install = false
default_mode_request_user_input = true
shell_snapshot = false

[projects.${JSON.stringify(workspace)}]
trust_level = "untrusted"
`
