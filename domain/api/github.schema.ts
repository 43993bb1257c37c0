/** The App at the code host: what it reaches for a person, and for administrators how it stands. */
import { z } from 'zod'
import { saying } from '../kernel/readInput.ts'
import { defineRead, type AnswerOf } from './call.schema.ts'
import { Moment } from './fields.schema.ts'
import { deliveryEffects, gitHubRoutes } from './github.ts'

const Level = z.enum(['read', 'write', 'admin'])
/** Permissions by name, as `contents`. */
const Named = z.array(z.object({ name: z.string(), level: Level }))
const Account = { account: z.string(), isOrganization: z.boolean() }

const Refresh = z.literal('true', { error: saying("must be 'true'.") }).optional()

const InstallationOfPerson = z.object({
  id: z.string(),
  ...Account,
  repositories: z.enum(['all', 'selected']),
  /** How many of them the person reaches; `null` while it is suspended, or where the code host does not say. */
  count: z.number().nullable(),
  /** The ids of those that were selected, some hundreds at most; `null` where all are, or where they were not asked for. */
  selected: z.array(z.string()).nullable(),
  /** Whether more were selected than are named. */
  isCut: z.boolean(),
  isSuspended: z.boolean(),
  /** What the App needs and was not granted here. */
  missing: Named,
  /** Where its owner changes it. */
  url: z.string(),
})
export type InstallationOfPerson = z.infer<typeof InstallationOfPerson>

/**
 * `app` is `null` where there is none. `installations` is `null` where the person's access is not that of an App: their own rights are all
 * there is then. `installation_id` is what a browser came back with from the code host: 422 `install_callback` unless the person has it.
 * What the code host said counts for some minutes, or until it tells of a change; with it, and with `refresh`, it is asked again.
 */
export const getGitHubAccess = defineRead(gitHubRoutes.getGitHubAccess, {
  summary: 'Where the App is installed for the person, what it reaches there, and what waits for an owner.',
  query: {
    installation_id: z
      .string()
      .regex(/^[1-9]\d{0,19}$/, { error: saying('must be the number of an installation.') })
      .optional(),
    refresh: Refresh,
  },
  answer: {
    app: z
      .object({
        name: z.string(),
        installUrl: z.string(),
        manageUrl: z.string(),
        /** Whether other accounts than its owner's may install it; `null` where the code host does not say. */
        isPublic: z.boolean().nullable(),
      })
      .nullable(),
    installations: z.array(InstallationOfPerson).nullable(),
    /** Those that are not shown. */
    more: z.number(),
    /** Organizations that the person asked an owner of. */
    requests: z.array(z.object({ account: z.string() })),
  },
  faults: ['github_not_connected', 'install_callback', 'code_host_refused', 'code_host_unavailable'],
})

export type GitHubAccess = AnswerOf<typeof getGitHubAccess>

/** What could not be read says why; the rest is there all the same. */
const part = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('read'), ...shape }),
    z.object({ kind: z.literal('unavailable'), reason: z.string() }),
  ])

/** Requests of an hour that are left to whoever holds a token. */
const Left = z.object({ limit: z.number(), remaining: z.number(), resetsAt: Moment })

const PermissionRow = z.object({
  name: z.string(),
  /** `null`: the App has it, and nothing here needs it. */
  wanted: Level.nullable(),
  isOptional: z.boolean(),
  /** What the App asks for; `null`: nothing. */
  app: Level.nullable(),
})
export type PermissionRow = z.infer<typeof PermissionRow>

const InstallationOfApp = z.object({
  id: z.string(),
  ...Account,
  repositories: z.enum(['all', 'selected']),
  count: z.number().nullable(),
  suspendedAt: Moment.nullable(),
  granted: Named,
  missing: Named,
  left: Left.nullable(),
  url: z.string(),
})
export type InstallationOfApp = z.infer<typeof InstallationOfApp>

const Delivery = z.object({
  id: z.string(),
  at: Moment,
  event: z.string(),
  action: z.string().nullable(),
  /** Whether the code host got an answer that it takes for success, at this attempt. */
  succeeded: z.boolean(),
  effect: z.enum(deliveryEffects),
})
export type Delivery = z.infer<typeof Delivery>

/** `app` is `null` where there is none, as in single-user mode, which has the token of its owner instead. No part holds a secret. Installations are as they were some minutes ago, unless with `refresh`. */
export const getGitHubRights = defineRead(gitHubRoutes.getGitHubRights, {
  summary:
    'The App of this server: its permissions, installations, deliveries and limits, for administrators.',
  query: { refresh: Refresh },
  answer: {
    app: z
      .object({
        name: z.string(),
        slug: z.string(),
        url: z.string(),
        installUrl: z.string(),
        hasKey: z.boolean(),
      })
      .nullable(),
    isSingleUser: z.boolean(),
    permissions: part({
      rows: z.array(PermissionRow),
      missing: Named,
      /** Events that are wanted, and that the App has not subscribed to. */
      missingEvents: z.array(z.string()),
      owner: z.object(Account),
      /** Where the App's owner changes them. */
      url: z.string(),
    }),
    installations: part({
      installations: z.array(InstallationOfApp),
      more: z.number(),
      requests: z.array(z.object({ account: z.string(), requester: z.string() })),
    }),
    deliveries: part({ deliveries: z.array(Delivery) }),
    /** What is left to the administrator who asks; `null` without an account at the code host. */
    own: part({ login: z.string(), left: Left }).nullable(),
  },
  faults: ['forbidden'],
})
export type InstallationsOfApp = Omit<
  Extract<AnswerOf<typeof getGitHubRights>['installations'], { kind: 'read' }>,
  'kind'
>
