/** Sign-ins at remote MCP servers. Their tokens are stored only in the vault, and only one process at a time renews the tokens of a sign-in. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import * as oauth from 'oauth4webapi'
import type { McpSignIn } from '#domain/api/mcpServers.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { alone } from '#platform/async/alone.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { mcpScope } from '#platform/credentials/projectSecrets.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { KeyDestroyed } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { mcpOAuth, Provider, SignInEnded, Tokens, type OAuth } from './oauth.ts'
import { McpFault, type McpNetwork } from './remoteRequest.ts'

const Place = z.object({
  of: z.enum(['project', 'person']),
  /** The id of the project or the person. */
  id: z.string(),
  serverId: z.string(),
  name: z.string(),
  /** The server's address, the only one at which the access token is used. */
  url: z.string(),
})
/** An MCP server at which a project or a person signs in. */
export type Place = z.infer<typeof Place>

const SignIn = z.object({
  url: z.string(),
  provider: Provider,
  since: z.string(),
  /** The tokens; `null` when they can no longer be renewed, so that a person has to sign in again. */
  tokens: Tokens.nullable(),
})
type SignIn = z.infer<typeof SignIn>

const Begun = z.object({
  place: Place,
  provider: Provider,
  sessionId: z.string(),
  state: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  until: z.number(),
})
export type Begun = z.infer<typeof Begun>

/** A person who signs in at an MCP server, and the Flightdeck session in which the person does so. */
interface By {
  readonly userId: string
  readonly sessionId: string
}

export interface McpSignIns {
  /**
   * Starts a sign-in, which replaces the one that the person started before and did not finish. Returns the address of the page where the person
   * continues. Throws `mcp_sign_in_failed`.
   */
  begin(
    place: Place,
    by: By,
    client: { readonly clientId: string | null; readonly redirectUri: string },
  ): Promise<string>
  /**
   * The sign-in that the person started in this session, identified by the `query` of the authorization server's redirect. It is returned only once.
   * Throws `mcp_sign_in_failed`.
   */
  begun(by: By, query: URLSearchParams): Promise<Begun>
  /** Gets and stores tokens. Throws `mcp_sign_in_failed`, or `not_found` if the owner's key was destroyed. */
  complete(begun: Begun, query: URLSearchParams): Promise<void>
  /** The states of the owner's sign-ins at `servers`. Servers without a sign-in at their present address are left out. */
  shown(owner: string, servers: readonly McpServer[]): Promise<McpSignIn[]>
  /**
   * The access token, renewed first if it expires within a minute or is `refused`, a token that the MCP server no longer accepts. Throws `McpFault`
   * when a person has to sign in again, and when the authorization server fails.
   */
  token(place: Omit<Place, 'of'>, refused?: string): Promise<string>
  /** Deletes the stored sign-in, and asks the authorization server to revoke its token. A failed revocation is ignored. */
  end(owner: string, serverId: string): Promise<void>
}

const beginning = 'mcp-sign-in'
const nameOf = (serverId: string) => `sign-in:${serverId}`
const beginningMs = 600_000
const marginMs = 60_000
/** The most sign-ins whose renewed tokens are remembered while the vault does not store them. */
const maxUnstored = 1_000

interface Services {
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret' | 'removeSecret'>
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Clock
}

const keptIn = (vault: Services['vault']) => ({
  async read(owner: string, serverId: string): Promise<SignIn | undefined> {
    const stored = await vault.getSecret(mcpScope(owner), nameOf(serverId))
    return stored === undefined ? undefined : SignIn.parse(JSON.parse(stored))
  },
  write: (owner: string, serverId: string, signIn: SignIn) =>
    vault.putSecret(mcpScope(owner), nameOf(serverId), JSON.stringify(signIn)),
})

/** Makes `McpSignIns.token`. A refresh token may work only once, so one process at a time renews a sign-in. */
function renewing(
  { vault, leases, clock }: Services,
  { refresh, revoke }: Pick<OAuth, 'refresh' | 'revoke'>,
): McpSignIns['token'] {
  const kept = keptIn(vault)
  const running = new Map<string, Promise<string>>()
  /** Renewed tokens that are not stored yet, by the sign-in and the stored refresh token that was used for them: it may never work again. */
  const unstored = new LRUCache<string, Tokens>({ max: maxUnstored })

  const holds = ({ access, expiresAt }: Tokens, refused?: string): boolean =>
    access !== refused && (expiresAt === null || expiresAt - marginMs > clock.now().getTime())

  /** The stored sign-in. `token` is set if the access token is valid for another minute and is not `refused`. Throws when a person has to sign in. */
  async function storedSignIn({ id, serverId, url, name }: Omit<Place, 'of'>, refused?: string) {
    const signIn = await kept.read(id, serverId)
    if (signIn?.url !== url || signIn.tokens === null) throw new McpFault(signInAgain(name))
    const { tokens } = signIn
    return { signIn, tokens, token: holds(tokens, refused) ? tokens.access : undefined }
  }

  async function renew(place: Omit<Place, 'of'>, refused?: string): Promise<string> {
    const { id, serverId, name } = place
    const { signIn, tokens, token } = await storedSignIn(place, refused)
    // Somebody else renewed the token while this call waited for its turn.
    if (token !== undefined) return token
    /**
     * Stores `fresh`, unless a person signed in or out meanwhile, which does not wait for a renewal. After a sign-out, revokes the fresh tokens and
     * throws.
     */
    const replace = async (fresh: Tokens | null) => {
      const now = await kept.read(id, serverId)
      if (now?.tokens?.access === tokens.access) await kept.write(id, serverId, { ...signIn, tokens: fresh })
      else if (now === undefined && fresh !== null) {
        await revoked(revoke, signIn.provider, fresh)
        throw new McpFault(signInAgain(name))
      }
    }
    try {
      if (tokens.refresh === null) throw new SignInEnded(signInAgain(name))
      const used = `${id} ${serverId} ${tokens.refresh}`
      const last = unstored.get(used) ?? tokens
      const fresh = holds(last, refused)
        ? last
        : await refresh(signIn.provider, last.refresh ?? tokens.refresh)
      unstored.set(used, fresh)
      await replace(fresh)
      unstored.delete(used)
      return fresh.access
    } catch (fault) {
      if (!(fault instanceof SignInEnded)) throw fault
      await replace(null)
      throw new McpFault(signInAgain(name))
    }
  }

  return async (place, refused) => {
    const { token } = await storedSignIn(place, refused)
    if (token !== undefined) return token
    const key = `MCP sign-in ${place.id} ${place.serverId}`
    const renewal = running.get(key) ?? alone(leases, key, () => renew(place, refused))
    running.set(key, renewal)
    return renewal.finally(() => running.delete(key))
  }
}

/** How long to wait for a revocation: less than the 30 seconds after which the request of the person who signs out is cut off. */
const revokeWithinMs = 5_000

/** Revokes the refresh token or, if there is none, the access token. A failure, or no answer in time, is ignored. */
const revoked = (revoke: OAuth['revoke'], provider: Provider, { refresh, access }: Tokens) =>
  withinOr(
    revokeWithinMs,
    revoke(provider, refresh ?? access).catch(() => undefined),
    undefined,
  )

export function mcpSignIns(services: Services, network: McpNetwork): McpSignIns {
  const { vault, clock } = services
  const { discover, exchange, refresh, revoke } = mcpOAuth(network, () => clock.now())
  const kept = keptIn(vault)
  return {
    async begin(place, by, { clientId, redirectUri }) {
      const { provider, scope } = await failingFor(place, () =>
        discover(place.url, { clientId, redirectUri }),
      )
      const { resource, server, client } = provider
      const [state, verifier] = [secret(), oauth.generateRandomCodeVerifier()]
      const until = clock.now().getTime() + beginningMs
      const begun: Begun = { place, provider, sessionId: by.sessionId, state, verifier, redirectUri, until }
      await vault.putSecret(`user:${by.userId}`, beginning, JSON.stringify(begun))
      const page = new URL(server.authorization_endpoint)
      const query = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: redirectUri,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        resource,
        ...(scope !== undefined && { scope }),
        // OpenID Connect gives offline access only if the person is asked for consent.
        ...(scope?.split(' ').includes('offline_access') && { prompt: 'consent' }),
      }
      for (const [name, value] of Object.entries(query)) page.searchParams.set(name, value)
      return page.href
    },
    async begun({ userId, sessionId }, query) {
      const stored = await vault.getSecret(`user:${userId}`, beginning)
      const begun = stored === undefined ? undefined : Begun.parse(JSON.parse(stored))
      const isOwn = begun?.sessionId === sessionId && begun.state === query.get('state')
      if (begun === undefined || !isOwn || begun.until < clock.now().getTime())
        throw new Fault(
          'mcp_sign_in_failed',
          'This sign-in was not begun here, was begun again since, or is older than ten minutes. Press Sign In again.',
        )
      await vault.removeSecret(`user:${userId}`, beginning, stored)
      return begun
    },
    async complete({ place, provider, state, verifier, redirectUri }, query) {
      const tokens = await failingFor(place, () =>
        exchange(provider, { query, state, verifier, redirectUri }),
      )
      const signIn = { url: place.url, provider, since: clock.now().toISOString(), tokens }
      await kept.write(place.id, place.serverId, signIn).catch((fault: unknown) => {
        throw fault instanceof KeyDestroyed ? new Fault('not_found') : fault
      })
    },
    async shown(owner, servers) {
      const found = await Promise.all(
        servers.map(async (server): Promise<McpSignIn[]> => {
          if (server.kind !== 'remote' || server.auth.kind !== 'oauth') return []
          const signIn = await kept.read(owner, server.id)
          if (signIn?.url !== server.url) return []
          const { provider, since, tokens } = signIn
          const issuer = new URL(provider.server.issuer).host
          return [{ serverId: server.id, issuer, since, isEnded: tokens === null }]
        }),
      )
      return found.flat()
    },
    token: renewing(services, { refresh, revoke }),
    async end(owner, serverId) {
      const signIn = await kept.read(owner, serverId)
      if (signIn === undefined) return
      await vault.removeSecret(mcpScope(owner), nameOf(serverId))
      const { provider, tokens } = signIn
      if (tokens !== null) await revoked(revoke, provider, tokens)
    },
  }
}

const secret = () => randomBytes(32).toString('base64url')

export const signInAgain = (name: string) => `Sign in to ${name} again.`

async function failingFor<T>({ name }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    if (!(fault instanceof McpFault)) throw fault
    throw new Fault('mcp_sign_in_failed', `Signing in to ${name} failed. ${fault.message}`)
  }
}
