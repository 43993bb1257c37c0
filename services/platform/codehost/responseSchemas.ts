/** The parts of GitHub's answers that we read; everything else is ignored. */
import { z } from 'zod'

export const Account = z.object({
  id: z.number(),
  login: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  avatar_url: z.string(),
  public_repos: z.number().default(0),
})

export const Repository = z.object({
  id: z.number(),
  name: z.string(),
  full_name: z.string(),
  owner: z.object({ login: z.string() }),
  description: z.string().nullish(),
  private: z.boolean(),
  archived: z.boolean().optional(),
  html_url: z.string(),
  default_branch: z.string(),
  language: z.string().nullish(),
  created_at: z.string().nullish(),
  permissions: z.object({ push: z.boolean() }).nullish().catch(undefined),
})

export const Organization = z.object({ login: z.string(), avatar_url: z.string() })

const MembershipState = z.enum(['active', 'pending'])
export const Membership = z.object({ state: MembershipState, organization: z.object({ id: z.number() }) })
export const TeamMembership = z.object({ state: MembershipState })

export const Branch = z.object({ name: z.string() })
export const Rule = z.object({ type: z.string() })

export const BranchWithCommit = z.object({
  name: z.string(),
  commit: z.object({ sha: z.string(), commit: z.object({ tree: z.object({ sha: z.string() }) }) }),
})

export const PullRequest = z.object({
  number: z.number(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  body: z.string().nullish(),
  /** `repo` is missing once the fork that has the branch was deleted. */
  head: z.object({ ref: z.string(), repo: z.object({ id: z.number() }).nullish() }),
  base: z.object({ ref: z.string(), repo: z.object({ id: z.number() }) }),
})

/** Tokens, or the reason for getting none. GitHub answers with status 200 in both cases. */
export const TokenAnswer = z.union([
  z.object({
    access_token: z.string().min(1),
    expires_in: z.number().optional(),
    refresh_token: z.string().optional(),
    refresh_token_expires_in: z.number().optional(),
  }),
  z.object({ error: z.string(), error_description: z.string().optional() }),
])

export const Refusal = z.object({
  message: z.string(),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string().optional(), field: z.string().optional() })]))
    .optional()
    .catch(undefined),
})

const Level = z.enum(['read', 'write', 'admin'])
/** Permissions by name. A permission with any other level than read, write or admin is left out. */
const Permissions = z.record(z.string(), z.unknown()).transform((all) =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, level]) => {
      const known = Level.safeParse(level)
      return known.success ? [[name, known.data] as const] : []
    }),
  ),
)

/** A person, an organization, or an enterprise, which has a slug instead of a login. */
const Owner = z.object({
  id: z.number(),
  login: z.string().optional(),
  slug: z.string().optional(),
  type: z.string().optional(),
  avatar_url: z.string().default(''),
})
export type Owner = z.infer<typeof Owner>

export const Installation = z.object({
  id: z.number(),
  account: Owner,
  permissions: Permissions,
  repository_selection: z.enum(['all', 'selected']),
  suspended_at: z.string().nullish(),
  html_url: z.string(),
})
export type Installation = z.infer<typeof Installation>
export const InstallationsOfPerson = z.object({
  total_count: z.number(),
  installations: z.array(Installation),
})

export const InstalledRepositories = z.object({
  total_count: z.number(),
  repositories: z.array(z.object({ id: z.number() })),
})

export const App = z.object({
  slug: z.string(),
  name: z.string(),
  html_url: z.string(),
  owner: Owner,
  permissions: Permissions,
  events: z.array(z.string()),
})

export const InstallationRequest = z.object({ account: Owner, requester: Owner })

export const ConvertedManifest = z.object({
  id: z.number(),
  slug: z.string(),
  name: z.string(),
  html_url: z.string(),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  webhook_secret: z.string().nullish(),
  pem: z.string().min(1),
})

export const Delivery = z.object({
  id: z.number(),
  guid: z.string(),
  delivered_at: z.string(),
  redelivery: z.boolean(),
  status: z.string(),
  status_code: z.number(),
  event: z.string(),
  action: z.string().nullish(),
})

export const DeliveryInFull = z.object({ request: z.object({ payload: z.unknown() }) })

export const RateLimits = z.object({
  resources: z.object({
    core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }),
  }),
})
