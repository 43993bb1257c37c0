/** What `codex` finds in its home. */
import { instructionFiles } from '../home.ts'
import type { HomeFile } from '../port.ts'

/** The variable that holds the run's token. */
export const tokenVariable = 'FLIGHTDECK_RUN_TOKEN'

/**
 * A repository's own configuration is not trusted, since it could name programs to run. That leaves out its instructions as well, so the user's
 * `AGENTS.md` says where those `instructionFiles` are that are `present`.
 */
export function codexHome(present: ReadonlySet<string>, workspace = '/workspace'): readonly HomeFile[] {
  const files = instructionFiles.filter((file) => present.has(file)).map((file) => `${workspace}/${file}`)
  const instructions =
    files.length === 0
      ? ''
      : `Read ${files.join(' and ')} before you begin, and follow the instructions for this repository there.\n`
  return [
    { path: '.codex/AGENTS.md', content: instructions, onlyOnce: false },
    { path: '.codex/config.toml', content: configuration(workspace), onlyOnce: false },
  ]
}

/** It reaches only its model, sends no telemetry, and sends its requests as plain JSON, which the broker reads. */
const configuration = (workspace: string): string => `model_provider = "flightdeck"
check_for_update_on_startup = false
web_search = "disabled"

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
shell_snapshot = false

[projects.${JSON.stringify(workspace)}]
trust_level = "untrusted"
`
