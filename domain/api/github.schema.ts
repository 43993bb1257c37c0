/** The server's GitHub App: what a person can reach through it and, for administrators, its status. */
import { z } from 'zod'
import { saying } from '../kernel/readInput.ts'
import { defineRead, type AnswerOf } from './call.schema.ts'
import { Moment } from './fields.schema.ts'
import { deliveryEffects, gitHubRoutes } from './github.ts'

const Level = z.enum(['read', 'write', 'admin'])
/** Permissions by name, such as `contents`. */
const Named = z.array(z.object({ name: z.string(), level: Level }))
const Account = { account: z.string(), isOrganization: z.boolean() }

const Refresh = z.literal('true', { error: saying("must be 'true'.") }).optional()

const InstallationOfPerson = z.object({
  id: z.string(),
  ...Account,
  repositories: z.enum(['all', 'selected']),
  /**
   * How many repositories of the installation the person can reach; `null` for a suspended installation, for all after the first 30, and when the
   * code host does not say.
   */
  count: z.number().nullable(),
  /** The ids of the selected repositories, a few hundred at most; `null` when all are selected, or when `count` is `null`. */
  selected: z.array(z.string()).nullable(),
  /** Whether more repositories are selected than `selected` lists. */
  isCut: z.boolean(),
  isSuspended: z.boolean(),
  /** Permissions that the App needs and this installation does not grant. */
  missing: Named,
  /** Where the owner of the account can change the installation. */
  url: z.string(),
})
export type InstallationOfPerson = z.infer<typeof InstallationOfPerson>

/**
 * `app` is `null` when there is no App, and for the local code host. `installations` is `null` when the person's token is not from an App: then only
 * the person's own permissions apply. `installation_id` comes from the address to which the code host sent the browser back; 422 `install_callback`
 * if the person has no such installation. Answers of the code host are cached for some minutes or until a webhook reports a change; with
 * `installation_id` or `refresh`, for ten seconds.
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
        /** Whether accounts other than the App owner's may install the App; `null` when the code host does not say. */
        isPublic: z.boolean().nullable(),
      })
      .nullable(),
    installations: z.array(InstallationOfPerson).nullable(),
    /** The number of installations that are not shown. */
    more: z.number(),
    /** Organizations whose owners the person has asked to install the App. */
    requests: z.array(z.object({ account: z.string() })),
  },
  faults: ['github_not_connected', 'install_callback', 'code_host_refused', 'code_host_unavailable'],
})

export type GitHubAccess = AnswerOf<typeof getGitHubAccess>

/** One part of the answer, or why it could not be read. The answer then still has the other parts. */
const part = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('read'), ...shape }),
    z.object({ kind: z.literal('unavailable'), reason: z.string() }),
  ])

const Left = z.object({ limit: z.number(), remaining: z.number(), resetsAt: Moment })

const PermissionRow = z.object({
  name: z.string(),
  /** The level that we need; `null` when the App has the permission but we do not need it. */
  wanted: Level.nullable(),
  isOptional: z.boolean(),
  /** The level that the App requests; `null` when it requests none. */
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
  /** Whether this attempt was answered with a status that the code host counts as success. */
  succeeded: z.boolean(),
  effect: z.enum(deliveryEffects),
})
export type Delivery = z.infer<typeof Delivery>

/**
 * `app` is `null` for the local code host, and when there is no App, as in single-user mode, which uses its owner's token instead. No part contains a
 * secret. Installations are cached for some minutes or, with `refresh`, for ten seconds.
 */
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
    /** Whether the code host is the local one, which has no GitHub Apps. */
    isLocal: z.boolean(),
    permissions: part({
      rows: z.array(PermissionRow),
      missing: Named,
      /** Events that we need and to which the App is not subscribed. */
      missingEvents: z.array(z.string()),
      owner: z.object(Account),
      /** The address of the page on which the App's owner can change the App's permissions. */
      url: z.string(),
    }),
    installations: part({
      installations: z.array(InstallationOfApp),
      more: z.number(),
      requests: z.array(z.object({ account: z.string(), requester: z.string() })),
    }),
    deliveries: part({ deliveries: z.array(Delivery) }),
    /** The rate limit of the administrator who makes the request; `null` without an account at the code host, and for the local code host. */
    own: part({ login: z.string(), left: Left }).nullable(),
  },
  faults: ['forbidden'],
})
export type InstallationsOfApp = Omit<
  Extract<AnswerOf<typeof getGitHubRights>['installations'], { kind: 'read' }>,
  'kind'
>
