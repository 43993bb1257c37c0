/** Writes the page `docs/configuration.md` from the variables that the product reads. */
import { agentVariables } from '#platform/config/agents.ts'
import { inFiles, variables } from '#platform/config/variables.ts'

interface Section {
  readonly title: string
  readonly about: string
  readonly names: readonly string[]
}

/** Splits names that are separated by spaces or line breaks. */
const listed = (names: string) => names.split(/\s+/)

const sections: readonly Section[] = [
  {
    title: 'Addresses, data and processes',
    about: 'See [running Flightdeck](operating/run.md).',
    names: listed(
      `PORT HOST PUBLIC_URL PREVIEW_HOST TRUST_PROXY DATA_DIR MASTER_KEY SERVICES COMMAND_URL QUERY_URL
        EVENTSTORE_URL MONGODB_URL NATS_URL`,
    ),
  },
  {
    title: 'Who can sign in',
    about:
      'As soon as other machines can reach the product, one of the first three is required. See [who can sign in](operating/run.md#who-can-sign-in).',
    names: listed('ALLOWED_USERS ALLOWED_ORGANIZATIONS ADMINS PASSWORD_SIGN_IN'),
  },
  {
    title: 'GitHub',
    about: 'See [GitHub](operating/github.md). Without any of these, the local code host is used.',
    names: listed(
      `CODE_HOST GITHUB_TOKEN GITHUB_CLIENT_ID GITHUB_CLIENT_SECRET GITHUB_APP_ID
        GITHUB_APP_PRIVATE_KEY GITHUB_APP_SLUG GITHUB_WEBHOOK_SECRET
        GITHUB_WEBHOOK_SECRET_BEFORE GITHUB_POLL_SECONDS FEEDBACK_GATHER_SECONDS
        GITHUB_SERVER_URL GITHUB_API_URL COMMIT_SIGNING_KEY COMMIT_SIGNER ORIGIN_NOTES`,
    ),
  },
  {
    title: 'The local code host',
    about: 'It is for trying Flightdeck out, and asks for no passwords.',
    names: listed('CODEHOST_PORT CODEHOST_HOST'),
  },
  {
    title: 'Agents and models',
    about: 'Without a key, `claude` is answered by a scripted model; the other agents cannot run.',
    names: [
      ...Object.keys(agentVariables),
      ...listed(
        `WARM_AGENTS IDLE_AGENT_SECONDS MODEL_RETRY_SECONDS SILENT_AGENT_SECONDS QUESTION_HOURS SERVICE_READY_SECONDS MODEL_PRICES
        RUN_TOKENS DAY_TOKENS RUN_DOLLARS DAY_DOLLARS`,
      ),
    ],
  },
  {
    title: 'The sandbox',
    about: 'See [the sandbox](operating/sandbox.md).',
    names: listed(
      `SANDBOX ALLOW_WEAKER_SANDBOX TOOLCHAINS CONTAINER_HOST CONTAINER_IMAGE CONTAINER_PATHS
        PRIVATE_EGRESS`,
    ),
  },
  {
    title: 'Limits',
    about: 'See [limits](operating/run.md#limits).',
    names: listed(
      `REQUESTS_PER_MINUTE STRANGERS_PER_ADDRESS TASKS_AT_ONCE RUNS_AT_ONCE RUN_SECONDS DRAIN_SECONDS
        RUN_OUTPUT_MB DAY_OUTPUT_MB WORKSPACE_GB WORKSPACE_BUDGET_GB PROJECT_DISK_GB
        MIN_FREE_DISK_GB REPOSITORY_ENTRIES REPOSITORY_GB`,
    ),
  },
  {
    title: 'Seals',
    about: 'See [seals](operating/backup.md#seals).',
    names: listed('SEAL_SECONDS SEALS_FILE SEAL_GIT SEAL_WITNESS'),
  },
  {
    title: 'Metrics, traces and logs',
    about: 'See [watching it](operating/run.md#watching-it).',
    names: listed('METRICS_PORT METRICS_HOST OTEL_EXPORTER_OTLP_ENDPOINT OTEL_GENAI LOG_LEVEL'),
  },
]

const introduction = `# Configuration

All settings are environment variables. They are checked at startup, and all errors are reported at once. \`npm start -- --help\` lists them too. An empty value counts as not set. Where a name says "or \`_FILE\`", you can give the path of a file that holds the value instead: \`MASTER_KEY_FILE\`.

This page is generated: \`npx vitest run tests/report/configurationPage.spec.ts -u\` writes it anew from \`services/platform/config\`.`

/** The description of a variable, without its default. */
export interface Described {
  readonly name: string
  readonly meaning: string
  /** The default; empty without one. */
  readonly initial: string
}

export function describedVariables(): readonly Described[] {
  const own = Object.entries(variables).map(([name, [, says]]) => [name, says] as const)
  return [...own, ...Object.entries(agentVariables)].map(([name, says]) => {
    const [, meaning = says, initial = ''] = /^(.*) \(([^()]+)\)$/.exec(says) ?? []
    return { name, meaning, initial }
  })
}

/** The names on the page, in their order. */
export const namesOnPage: readonly string[] = sections.flatMap(({ names }) => names)

export function configurationPage(): string {
  const described = new Map(describedVariables().map((variable) => [variable.name, variable]))
  const parts = sections.map(({ title, about, names }) => {
    const rows = names.map((name) => rowOf(described.get(name)))
    return [`## ${title}`, '', about, '', '| Variable | Default | Meaning |', '|---|---|---|', ...rows].join(
      '\n',
    )
  })
  return `${[introduction, ...parts].join('\n\n')}\n`
}

function rowOf(described: Described | undefined): string {
  if (described === undefined) throw new Error('The page names a variable that the product does not read.')
  const { name, meaning, initial } = described
  const names = inFiles.includes(name) ? `\`${name}\` or \`_FILE\`` : `\`${name}\``
  return `| ${[names, initial, meaning].map(inCell).join(' | ')} |`
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
