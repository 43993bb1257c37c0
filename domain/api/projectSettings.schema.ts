/** The settings for a project's tasks, such as setup, variables, secrets and hosts. */
import { z } from 'zod'
import { saying } from '../kernel/readInput.ts'
import { ProjectId, Sha256 } from '../kernel/ids.schema.ts'
import { feedbackLimits, feedbackModes } from '../task/codeHost/feedbackRule.ts'
import { issueFailures, issueLimits, issuePasses, issueTriggers } from '../project/issueRule.ts'
import { agentKeyLimits, keyProviders } from '../agentKeys.ts'
import { searchedFolders } from '../project/searchPath.ts'
import { bytesOf, isReservedName, settingsLimits } from '../project/settings.ts'
import { KeyValue, ProjectModelKey } from './agentKeys.schema.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Moment, success, Text } from './fields.schema.ts'
import { projectSettingsRoutes } from './projectSettings.ts'

const params = z.object({ projectId: ProjectId })

const reserved = 'This name is reserved.'

const AnyName = z
  .string()
  .min(1, 'A variable needs a name.')
  .max(settingsLimits.nameLength)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "Use only letters, digits and underscores. Don't start with a digit.")

/** A valid name of an environment variable that the sandbox does not reserve. */
export const EnvironmentName = AnyName.refine((name) => !isReservedName(name), reserved)

const Value = Text.refine((value) => bytesOf(value) <= settingsLimits.valueBytes, {
  error: saying('can have at most 32 KiB.'),
})

/** An environment variable. `PATH` lists further folders, in the workspace or the home, in which the sandbox searches for programs. */
export const ProjectVariable = z
  .object({ name: AnyName, value: Value })
  .superRefine(({ name, value }, { addIssue }) => {
    if (name !== 'PATH') {
      if (isReservedName(name)) addIssue({ code: 'custom', path: ['name'], message: reserved })
      return
    }
    const read = searchedFolders(value)
    if ('wrong' in read)
      addIssue({
        code: 'custom',
        path: ['value'],
        message: `PATH lists folders below the workspace or the home, such as ./node_modules/.bin:~/bin. This entry is not one: "${read.wrong.slice(0, 200)}".`,
      })
  })
export type ProjectVariable = z.infer<typeof ProjectVariable>

/**
 * A host that sandboxes may reach: `host`, `*.suffix`, or either with a port; a numeric address counts as a host. `owner/name` is a repository of the
 * local code host that sandboxes may read, in addition to the project's own repository.
 */
export const AllowedHost = z
  .string()
  .trim()
  .toLowerCase()
  .max(260)
  .regex(
    /^((\*\.)?[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*|\[[0-9a-f:.]{2,45}\])(:[1-9]\d{0,4})?$|^[a-z0-9][a-z0-9_-]{0,38}\/(?!\.{1,2}$|-)[a-z0-9._-]{1,100}$/,
    'Enter a host such as example.org, *.example.org or example.org:8443, or a repository as owner/name.',
  )
  .refine((host) => Number(/:(\d+)$/.exec(host)?.[1] ?? 1) <= 65_535, 'A port can be at most 65535.')

/** The name of a filter: the value after `filter=` in `.gitattributes`. */
const FilterName = z
  .string()
  .trim()
  .min(1)
  .max(settingsLimits.nameLength)
  .regex(/^[^\s\p{Cc}]+$/u, 'Enter the name of a filter, such as git-crypt.')

const SubmoduleRepository = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,38}\/(?!\.{1,2}$|-)[a-z0-9._-]{1,100}$/,
    'Submodules are fetched from the code host alone: enter a repository there as owner/name.',
  )

/** A process that runs beside the agent in its sandbox. */
export const ProjectServiceInput = z.object({
  name: z
    .string()
    .trim()
    .min(1, 'A service needs a name.')
    .max(settingsLimits.serviceNameLength, {
      error: saying(`can have at most ${settingsLimits.serviceNameLength} characters.`),
    })
    .regex(/^(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]*$/, 'Use letters, digits, hyphens and single underscores.'),
  /** Shell code that runs as long as the service. */
  command: Text.max(settingsLimits.serviceCommandLength).refine(
    (command) => command.trim() !== '',
    'Enter the command that starts the service.',
  ),
  /** The service is ready once a process listens on this TCP port of the sandbox. With `null`, the service is ready as soon as it runs. */
  readyPort: z
    .int()
    .min(1, 'Enter a port from 1 to 65535.')
    .max(65_535, 'Enter a port from 1 to 65535.')
    .nullable()
    .default(null),
})

/** The address of a gateway that speaks a provider's protocol. The address may contain a path. */
const ModelAddress = Text.trim()
  .max(agentKeyLimits.addressLength)
  .pipe(z.url({ protocol: /^https?$/, error: 'Enter an address such as https://gateway.example.org.' }))
  .refine((address) => !/[@?#]/.test(address), 'Enter the address without a password or parameters.')
  // `/v1` and `/v1beta` at the end are removed, because each request appends `/v1`, or for Google `/v1beta`.
  .transform((address) => address.replace(/\/+$/, '').replace(/\/v1(?:beta)?$/, ''))

const Mode = z.enum(feedbackModes)
const tries = (most: number) =>
  z
    .int()
    .min(0, 'Enter a whole number.')
    .max(most, { error: saying(`can be at most ${most}.`) })

const ShownRule = z.object({
  /** How reviews and comments are handled: `off` ignores them, `ask` shows them, `automatic` sends them to the agent within the limits. */
  reviews: Mode,
  checks: Mode,
  /** The most automatic turns that try to fix the failed checks of one commit. */
  triesPerCommit: tries(feedbackLimits.triesPerCommit),
  /** The most automatic turns within 24 hours that try to fix the failed checks of one task's pull requests. */
  triesPerDay: tries(feedbackLimits.triesPerDay),
  resolves: z.boolean(),
})

const ShownIssueRule = z.object({
  /** Whether issues of the repository become tasks automatically. */
  on: z.boolean(),
  label: Text.trim()
    .min(1, 'Enter a label.')
    .max(issueLimits.labelLength, {
      error: saying(`can have at most ${issueLimits.labelLength} characters.`),
    })
    // The code host separates label names by commas, so a name with a comma would count as several labels.
    .refine((label) => !label.includes(','), 'A label has no comma.'),
  /** Whether mentioning the App, if there is one, also turns an issue into a task. */
  mentions: z.boolean(),
})

/** The decision about an issue for which somebody with the necessary permission requested a task, or may have requested one. */
const IssueDecision = z.object({
  number: z.number(),
  title: z.string(),
  url: z.string(),
  at: Moment,
  /** The id of the task, set for each issue that was accepted, even if creating the task failed; `null` for other issues. */
  taskId: z.string().nullable(),
  trigger: z.enum(issueTriggers).nullable(),
  author: z.string().nullable(),
  /** Whether the issue became a task, or why not; `waiting` while the task is being created. */
  outcome: z.enum(['made', 'waiting', ...issuePasses, ...issueFailures]),
  reason: z.string().nullable(),
})

export const ShownSettings = z.object({
  /**
   * A command that sets up each new workspace, before the agent; empty for none. It is not run when the files that it left earlier can be used again.
   */
  setupCommand: z.string(),
  /** Variables that the setup command, people's commands and shells, and the agent with its services get. */
  variables: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Secrets for the setup command, people's commands on request, local MCP servers that name them and, with `forAgent`, the agent. No values. */
  secrets: z.array(z.object({ name: z.string(), forAgent: z.boolean(), updatedAt: Moment })),
  /** The project's own keys for the models of agents, without their values. */
  modelKeys: z.array(ProjectModelKey),
  /** The entries of the host list, as `AllowedHost` describes them. A host without a port may be reached on the ports 80 and 443. */
  egress: z.array(z.string()),
  /** Whether agents may use their model provider's web search, page fetching and tool servers, which bypass the host list `egress`. */
  modelFetches: z.boolean(),
  /** The names of clean filters in `.gitattributes` that need not run: their files may be published unfiltered. */
  allowedFilters: z.array(z.string()),
  /** Whether the first turn that changes something opens a draft pull request. */
  draftPullRequests: z.boolean(),
  /** Repositories of the code host, as `owner/name`, that are fetched as submodules with the permissions of the person who runs the task. */
  submodules: z.array(z.string()),
  /** The SHA-256 of the version of `.claude/settings.json` whose hooks may run; `null` when no hooks may run. */
  allowedHooks: z.object({ hash: z.string(), since: Moment }).nullable(),
  /** Processes that run beside the agent in its sandbox. */
  services: z.array(z.object({ name: z.string(), command: z.string(), readyPort: z.int().nullable() })),
  feedback: ShownRule,
  issues: ShownIssueRule,
  /** The recent decisions about issues, latest first. */
  issueDecisions: z.array(IssueDecision),
  /** Why the issues cannot be read, and since when; `null` while they can be read. */
  issuesUnread: z.object({ reason: z.string(), since: Moment }).nullable(),
})
export type ShownSettings = z.infer<typeof ShownSettings>

/** An `AllowedHost` that the repository may need, and the file that shows it. */
export const HostSuggestion = z.object({ host: z.string(), from: z.string() })
export type HostSuggestion = z.infer<typeof HostSuggestion>

const hookOption = z.string().max(500).exactOptional()

/** A hook of a repository for `claude`. Hooks of other kinds or with other options are refused, so that people see everything that would run. */
export const RepositoryHook = z.object({
  /** The event at which the hook runs, such as `PostToolUse`. */
  event: z.string().regex(/^[A-Za-z]{1,50}$/),
  /** Limits the event to some cases, for example to tools by their names; left out when the hook runs in every case. */
  matcher: hookOption,
  hook: z.strictObject({
    type: z.literal('command'),
    command: z.string().min(1).max(settingsLimits.hookCommandLength),
    /** A further condition for the hook, such as `Bash(git *)`. */
    if: hookOption,
    timeout: z.number().positive().exactOptional(),
    statusMessage: hookOption,
    async: z.boolean().exactOptional(),
    once: z.boolean().exactOptional(),
  }),
})
export type RepositoryHook = z.infer<typeof RepositoryHook>

/** The hooks in the repository's `.claude/settings.json`. */
export const RepositoryHooks = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('shown'),
    /** The SHA-256 of the file, in hex. */
    hash: z.string(),
    hooks: z.array(RepositoryHook),
  }),
  /** The hooks cannot be allowed; `reason` says why. */
  z.object({ kind: z.literal('refused'), reason: z.string() }),
])
export type RepositoryHooks = z.infer<typeof RepositoryHooks>

/** The environment that a repository needs, according to its files, and settings that would provide it. People must save settings to apply them. */
export const DetectedEnvironment = z.object({
  /** The files that say something about the environment. */
  found: z.array(z.object({ file: z.string(), says: z.string() })),
  /** The proposed setup command; empty for none. */
  setupCommand: z.string(),
  /** The hosts that the proposed setup command needs, each with the file that makes it necessary. */
  hosts: z.array(HostSuggestion),
  variables: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Ports on which the repository's own programs listen. */
  ports: z.array(z.int()),
  /** Sentences about things that the files ask for but tasks do not get. */
  notes: z.array(z.string()),
})
export type DetectedEnvironment = z.infer<typeof DetectedEnvironment>

/**
 * What a person sees of a repository: how our clone of it differs from a plain clone, its hooks, and the environment that it needs. All of it is read
 * from the default branch as last fetched.
 */
export const ShownRepository = z.object({
  /** The first 50 submodules. */
  submodules: z.array(
    z.object({
      path: z.string(),
      /** `owner/name` when the submodule is on the same code host, else its address. */
      repository: z.string(),
      /**
       * `public`: the submodule is always fetched. `private`: it is fetched if the settings list it. `hidden`: the project's owner may not read it.
       * `elsewhere`: it is on another host. `unknown`: the code host was not asked about it, or did not answer.
       */
      access: z.enum(['public', 'private', 'hidden', 'elsewhere', 'unknown']),
    }),
  ),
  submoduleCount: z.number(),
  /** The names of clean filters that `.gitattributes` assigns to files of the repository. */
  filters: z.array(z.string()),
  /** Whether only the end of the history is fetched. */
  isShallow: z.boolean(),
  /** The hooks of the repository; `null` when it has none. */
  hooks: RepositoryHooks.nullable(),
  /** The environment that the repository needs; left out when the runner is of an earlier version. */
  detected: DetectedEnvironment.exactOptional(),
})
export type ShownRepository = z.infer<typeof ShownRepository>

export const getProjectRepository = defineRead(projectSettingsRoutes.getProjectRepository, {
  summary:
    'What of the repository is not as in a plain clone: submodules, filters, a shallow history; its hooks for agents; and what its files say about the environment that it needs.',
  params,
  /** `null` when no runner that has fetched the repository answers in time. */
  answer: { repository: ShownRepository.nullable() },
  faults: ['not_found'],
})

export const getProjectSettings = defineRead(projectSettingsRoutes.getProjectSettings, {
  summary: 'The settings that tasks of the project run with. Secrets are listed by name, without values.',
  params,
  answer: {
    settings: ShownSettings,
    /** Hosts that the configuration of the repository's package managers names, if a runner has read it. */
    suggestions: z.array(HostSuggestion),
  },
  faults: ['not_found'],
})

export const updateProjectSettings = defineWrite(projectSettingsRoutes.updateProjectSettings, {
  summary:
    'Replaces the settings that are sent: the setup command, all variables, all allowed hosts, all filters that may go unapplied, all repositories of submodules, the version of hooks of the repository that may run, all services, whether turns open drafts of pull requests, a key for models, web access through the model provider, or parts of the rules for feedback and for issues.',
  params,
  body: z.object({
    setupCommand: Text.max(settingsLimits.setupCommandLength).optional(),
    variables: z
      .array(ProjectVariable)
      .max(settingsLimits.variables, {
        error: saying(`can have at most ${settingsLimits.variables} entries.`),
      })
      .refine(areUnique, 'Two variables have the same name.')
      .refine(areSmall, 'All variables together can be at most 256 KiB.')
      .optional(),
    egress: z
      .array(AllowedHost)
      .max(settingsLimits.egress, { error: saying(`can have at most ${settingsLimits.egress} hosts.`) })
      .optional(),
    modelFetches: z.boolean().optional(),
    allowedFilters: z
      .array(FilterName)
      .max(settingsLimits.filters, { error: saying(`can have at most ${settingsLimits.filters} names.`) })
      .optional(),
    draftPullRequests: z.boolean().optional(),
    submodules: z
      .array(SubmoduleRepository)
      .max(settingsLimits.submodules, {
        error: saying(`can have at most ${settingsLimits.submodules} repositories.`),
      })
      .optional(),
    allowedHooks: z.object({ hash: Sha256 }).nullable().optional(),
    services: z
      .array(ProjectServiceInput)
      .max(settingsLimits.services, {
        error: saying(`can have at most ${settingsLimits.services} services.`),
      })
      .refine(areUnique, 'Two services have the same name.')
      .optional(),
    feedback: ShownRule.partial().optional(),
    issues: ShownIssueRule.partial().optional(),
    /**
     * A key with its address, which replaces the project's key for this provider; `value: null` removes the key. The server first tries the key at
     * the provider, and does not store a key that the provider refuses.
     */
    modelKey: z
      .object({
        provider: z.enum(keyProviders),
        baseUrl: ModelAddress.nullable().default(null),
        value: KeyValue.nullable(),
      })
      .optional(),
  }),
  answer: { settings: ShownSettings },
  faults: ['not_found', 'key_refused'],
})

const secretParams = z.object({ projectId: ProjectId, name: EnvironmentName })

export const setProjectSecret = defineWrite(projectSettingsRoutes.setProjectSecret, {
  summary: 'Sets a secret, or replaces it. Its value cannot be read again.',
  params: secretParams,
  body: z.object({
    value: Text.refine((value) => bytesOf(value) <= settingsLimits.secretBytes, {
      error: saying('can have at most 8 KiB.'),
    }).min(
      settingsLimits.secretLength,
      'A secret needs at least 8 characters so that it can be redacted from output. Use a variable for shorter values.',
    ),
    /** Whether the agent gets the secret too, in addition to the setup command and the commands for which a person requests the secrets. */
    forAgent: z.boolean().optional(),
  }),
  answer: { settings: ShownSettings },
  faults: ['not_found'],
})

export const removeProjectSecret = defineWrite(projectSettingsRoutes.removeProjectSecret, {
  summary: 'Deletes a secret permanently.',
  params: secretParams,
  answer: success,
  faults: ['not_found'],
})

function areUnique(named: readonly { readonly name: string }[]): boolean {
  return new Set(named.map(({ name }) => name)).size === named.length
}

function areSmall(variables: readonly { readonly name: string; readonly value: string }[]): boolean {
  const bytes = variables.reduce((sum, { name, value }) => sum + bytesOf(name) + bytesOf(value), 0)
  return bytes <= settingsLimits.allValuesBytes
}
