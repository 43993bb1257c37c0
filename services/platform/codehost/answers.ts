/** What we read of GitHub's answers; the rest of them is not looked at. */
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
  html_url: z.string(),
  default_branch: z.string(),
  language: z.string().nullish(),
  created_at: z.string().nullish(),
})

export const Organization = z.object({ login: z.string(), avatar_url: z.string() })

const MembershipState = z.enum(['active', 'pending'])
export const Membership = z.object({ state: MembershipState, organization: z.object({ id: z.number() }) })
export const TeamMembership = z.object({ state: MembershipState })

export const Branch = z.object({ name: z.string() })

export const BranchWithCommit = z.object({
  name: z.string(),
  commit: z.object({ sha: z.string(), commit: z.object({ tree: z.object({ sha: z.string() }) }) }),
})

export const PullRequest = z.object({
  number: z.number(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
})

/** Tokens, or the reason why there are none: GitHub answers 200 either way. */
export const TokenAnswer = z.union([
  z.object({
    access_token: z.string().min(1),
    expires_in: z.number().optional(),
    refresh_token: z.string().optional(),
    refresh_token_expires_in: z.number().optional(),
  }),
  z.object({ error: z.string(), error_description: z.string().optional() }),
])

/** GitHub's account of a refusal. */
export const Refusal = z.object({
  message: z.string(),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string().optional(), field: z.string().optional() })]))
    .optional()
    .catch(undefined),
})
