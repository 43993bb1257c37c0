/** The events of a user: account, sessions, profile, onboarding, instructions, model keys, MCP servers. Names and addresses are content. */
import { z } from 'zod'
import { keyKinds, keyProviders } from '../agentKeys.ts'
import { event, fact, type EventOf } from '../kernel/event.schema.ts'
import { McpServer } from '../mcp/mcpServers.ts'
import { UserId } from '../kernel/ids.schema.ts'
import { InstructionsChanged } from './instructions.ts'

export const companySizes = ['solo', '2-5', '6-20', '21-50', '51-200', '200+'] as const
export const roles = ['developer', 'designer', 'product_manager', 'team_lead', 'cto', 'other'] as const
export const CompanySize = z.enum(companySizes)
export const Role = z.enum(roles)

/** A person's profile on the code host. */
export const HostProfile = z.object({
  /** The code host's id of the account, which never changes. */
  githubId: z.string(),
  login: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  avatar: z.string(),
})
export type HostProfile = z.infer<typeof HostProfile>

export const UserRegistered = event('UserRegistered', 1, {
  data: z.object({ userId: UserId }),
  content: z.object({ name: z.string(), email: z.string().nullable() }),
})
/** The person set a password. The hash of the password is in the vault under the id `credentialId`. */
export const PasswordSet = fact('PasswordSet', { credentialId: z.uuid() })
/** The person's account at the code host was connected, perhaps again, or its profile changed. */
export const GitHubConnected = event('GitHubConnected', 1, {
  data: z.object({}),
  content: HostProfile,
})
export const GitHubDisconnected = fact('GitHubDisconnected', {})
export const SessionStarted = event('SessionStarted', 1, {
  data: z.object({ sessionId: z.uuid(), expiresAt: z.iso.datetime() }),
  /** `client` is the browser and its system, such as 'Chrome on Linux'; `null` when unknown. */
  content: z.object({ client: z.string().max(100).nullable() }),
})
export const SessionEnded = fact('SessionEnded', { sessionId: z.uuid() })
export const ProfileUpdated = event('ProfileUpdated', 1, {
  data: z.object({}),
  content: z.object({ name: z.string(), fullName: z.string(), email: z.string().nullable() }),
})
export const OnboardingCompleted = event('OnboardingCompleted', 1, {
  data: z.object({ companySize: CompanySize, role: Role }),
  content: z.object({ fullName: z.string(), email: z.string().nullable() }),
})
/** The MCP servers that agents get in the person's tasks changed; the event has all of them. */
export const PersonMcpServersChosen = event('PersonMcpServersChosen', 1, {
  data: z.object({}),
  content: z.object({ servers: z.array(McpServer) }),
})
/** The person set a key of their own for the models of agents. The key is in the vault only, never in an event. */
export const AgentKeySet = event('AgentKeySet', 1, {
  data: z.object({ provider: z.enum(keyProviders), kind: z.enum(keyKinds), checked: z.boolean() }),
  /** The last characters of the key. */
  content: z.object({ ending: z.string().max(4) }),
})
export const AgentKeyRemoved = fact('AgentKeyRemoved', { provider: z.enum(keyProviders) })
/** The person deleted their account. Their data is erased, and the stream accepts no further events. */
export const AccountDeleted = fact('AccountDeleted', {})

export const userEvents = [
  UserRegistered,
  PasswordSet,
  GitHubConnected,
  GitHubDisconnected,
  SessionStarted,
  SessionEnded,
  ProfileUpdated,
  OnboardingCompleted,
  InstructionsChanged,
  PersonMcpServersChosen,
  AgentKeySet,
  AgentKeyRemoved,
  AccountDeleted,
] as const
export type UserEvent = EventOf<(typeof userEvents)[number]>
