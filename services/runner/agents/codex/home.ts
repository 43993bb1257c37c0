/** The files in the home of `codex`. */
import { instructionFiles, nestedInstructions, nothingBrought, unreplaced } from '../home.ts'
import { abilitiesIn } from '../abilities.ts'
import type { Brought, HomeFile } from '../port.ts'

/** The folder of skills. It is not the one in `.codex`, in which the program keeps its own skills. */
export const codexSkills = '.agents/skills'

/** The rules for commands that codex may run without asking, in the mode in which it asks. */
export const codexRules = '.codex/rules'

/** The environment variable with the run's token. */
export const tokenVariable = 'FLIGHTDECK_RUN_TOKEN'

/**
 * The files of the home. A repository's own configuration is not trusted, since it could name programs to run. Without it, codex does not read the
 * repository's instructions either, so the user's `AGENTS.md` names the instruction files that are `present`.
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

/** The person's commands as skills, since codex has no commands of a user; a message can name a skill as well. */
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

/** Programs that only read, whatever their arguments. */
const reading = ['cat', 'cd', 'echo', 'grep', 'head', 'ls', 'nl', 'pwd', 'stat', 'tail', 'wc', 'which']
const readingRules = reading
  .map((program) => `prefix_rule(pattern = ["${program}"], decision = "allow")\n`)
  .join('')

/** The configuration: codex reaches only its model, sends no telemetry, and sends its requests as plain JSON, which the broker reads. */
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
