/**
 * Accounts at the code host: finds the user of an account, signs in with an account, and connects an account to a user. Accounts are never matched by
 * email address.
 */
import { Fault } from '#domain/kernel/errors.ts'
import { isRefusal } from '#domain/kernel/decider.ts'
import { identityStream, scopeOfStream, userStream } from '#domain/kernel/streams.ts'
import { identity } from '#domain/identity.ts'
import type { HostProfile } from '#domain/user/events.ts'
import { user, type UserCommand, type UserState } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import { recordRefusal } from '#platform/access/auditLog.ts'
import { isErased } from '#platform/eventlog/sealedBlobs.ts'
import type { Identity } from '#platform/http/session.ts'
import type { Logger } from '#platform/log.ts'
import type { HostAccount, HostTokens } from '#platform/ports/codeHost.ts'
import type { GatewayServices } from '../services.ts'
import { signedInWith, type SignedIn } from './session.ts'
import { v5 as uuidv5 } from 'uuid'
import type { LinkError, SignInError } from '#domain/api/auth.ts'

/** An account that somebody has proven to be theirs. */
export interface ProvenAccount {
  readonly account: HostAccount
  readonly tokens: HostTokens
}

export interface Accounts {
  /**
   * Signs in the user of the account. Throws `SignInFailed` with `user_not_found` when that user is deleted meanwhile, and `AccountNotAllowed` when
   * the account may not sign in. Both are recorded in the audit log, and no tokens are stored then.
   */
  signIn(shown: ProvenAccount, userAgent: string): Promise<SignedIn>
  /**
   * Connects the account to the person. Throws `SignInFailed` when the person or the session no longer exists, when the account belongs to another
   * person, or when the person has another account.
   */
  link(shown: ProvenAccount, to: Identity): Promise<void>
}

const projectionTimeoutMs = 5_000

type Services = Pick<
  GatewayServices,
  'commands' | 'documents' | 'projected' | 'sessions' | 'access' | 'accessControl' | 'ids' | 'vault' | 'clock'
> & { readonly logger: Pick<Logger, 'error'> }

/** Opens the accounts; `codeHostName` keeps accounts of different code hosts apart. */
export function accounts({ codeHostName }: { codeHostName: string }, services: Services): Accounts {
  const { commands, access, accessControl, sessions, ids, vault } = services

  const idOf = (account: HostAccount): string => idOfAccount(vault, codeHostName, account.id)
  const isDeleted = async (userId: string) => (await kindOf(services, userId)) === 'deleted'

  /** Claims the account for this person. Throws `already_exists` when it belongs to somebody else. */
  async function claim(account: HostAccount, userId: string): Promise<{ readonly isNew: boolean }> {
    const id = idOf(account)
    const { state } = await commands.load(identity, identityStream(id))
    if (state.userId !== null && (await isDeleted(state.userId))) await release(account, state.userId)
    const executed = await commands.execute(
      identity,
      identityStream(id),
      { type: 'ClaimIdentity', userId },
      causedBy(userId),
    )
    return { isNew: executed.events.length > 0 }
  }

  async function release(account: HostAccount, userId: string): Promise<void> {
    const stream = identityStream(idOf(account))
    await commands.execute(identity, stream, { type: 'ReleaseIdentity', userId }, causedBy(userId))
  }

  /**
   * The user who signs in with the account: the user who claimed the account, or else the user whose id is derived from it. Deleted users do not
   * count.
   */
  async function userOf(account: HostAccount): Promise<string> {
    const id = idOf(account)
    const claimedBy = async () => (await commands.load(identity, identityStream(id))).state.userId
    const claimed = await claimedBy()
    if (claimed !== null && !(await isDeleted(claimed))) return claimed
    const newcomer = await unusedUserId(id, services)
    try {
      await claim(account, newcomer)
      return newcomer
    } catch (fault) {
      // Another request claimed the account for a user at the same moment. The person then signs in as that user.
      const winner = await claimedBy()
      if (winner === null) throw fault
      return winner
    }
  }

  const causedBy = (userId: string) => ({
    actor: { kind: 'user', userId } as const,
    commandId: ids.uuid(),
  })

  return {
    async signIn({ account, tokens }, userAgent) {
      const id = idOf(account)
      if (!(await accessControl.allows(account, tokens.accessToken)))
        await refuseAccount(services, id, new AccountNotAllowed(account.login))
      const userId = await userOf(account)
      const isNew = userId === (await unusedUserId(id, services))
      if (!isNew && (await kindOf(services, userId)) !== 'user')
        await refuseAccount(services, id, new SignInFailed('user_not_found'))
      await access.keep(userId, tokens)
      const session = { userId, ...sessions.begin(userAgent) }
      const executed = await commands.execute(
        user,
        userStream(userId),
        { type: 'SignInWithGitHub', profile: profileOf(account), ...session },
        causedBy(userId),
      )
      return signedInWith(executed, session, services, projectionTimeoutMs)
    },

    async link({ account, tokens }, { userId, sessionId }) {
      const stream = userStream(userId)
      const profile = profileOf(account)
      const command = { type: 'ConnectGitHub', profile, sessionId, hasNewTokens: false } as const
      try {
        // Decides before claiming, so that a refused connection claims nothing.
        const decision = user.decide(command, (await commands.load(user, stream)).state)
        if (isRefusal(decision)) throw new Fault(decision.refused)
        const { isNew } = await claim(account, userId)
        const executed = await commands
          .execute(user, stream, command, causedBy(userId))
          .catch(async (fault: unknown) => {
            // The connection was refused after all, because the state changed in between: the account is released.
            if (isNew && fault instanceof Fault) await release(account, userId)
            throw fault
          })
        await keepOfConnected(services, { userId, tokens, command, wasTold: executed.events.length > 0 })
      } catch (fault) {
        throw fault instanceof Fault ? new SignInFailed(whyNotLinked(fault), fault) : fault
      }
    },
  }
}

interface Connected {
  readonly userId: string
  readonly tokens: HostTokens
  readonly command: Extract<UserCommand, { type: 'ConnectGitHub' }>
  readonly wasTold: boolean
}

/** Stores the tokens after the account is connected, so that tokens of a refused account never replace others. */
async function keepOfConnected(
  { access, commands, ids, projected }: Services,
  { userId, tokens, command, wasTold }: Connected,
): Promise<void> {
  await access.keep(userId, tokens)
  // Records the connection once more if it existed before, because it has new tokens, or if it was ended before its tokens were stored.
  const { position } = await commands.execute(
    user,
    userStream(userId),
    { ...command, hasNewTokens: !wasTold },
    { actor: { kind: 'user', userId }, commandId: ids.uuid() },
  )
  if (position !== null) await projected.waitFor(position, projectionTimeoutMs)
}

async function kindOf(
  { commands, vault }: Pick<Services, 'commands' | 'vault'>,
  userId: string,
): Promise<UserState['kind']> {
  const stream = userStream(userId)
  // A backup that was made during the deletion of the account has its key destroyed, and may lack the deletion.
  if (await isErased(vault, scopeOfStream(stream))) return 'deleted'
  return (await commands.load(user, stream)).state.kind
}

/** Records that the account was refused, and then throws `fault`. */
async function refuseAccount(services: Services, id: string, fault: SignInFailed): Promise<never> {
  // If the account belongs to no user here, the refusal is recorded without a `userId`.
  const { userId } = (await services.commands.load(identity, identityStream(id))).state
  const refusal = { method: 'code_host', code: fault.value, userId } as const
  await recordRefusal(services, refusal, { commandId: services.ids.uuid() })
  throw fault
}

function whyNotLinked({ code }: Fault): SignInFailed['value'] {
  switch (code) {
    case 'not_found':
    case 'sign_in_required':
      return 'user_not_found'
    case 'already_exists':
      return 'account_taken'
    case 'conflict':
      return 'account_differs'
    default:
      return 'server'
  }
}

const profileOf = ({ id, name, email, login, avatarUrl }: HostAccount): HostProfile => ({
  githubId: id,
  name,
  email,
  login,
  avatar: avatarUrl,
})

/** `id`, or the first id derived from it that no deleted account has: whoever returns after deleting an account is a new user. */
export async function unusedUserId(
  id: string,
  services: Pick<Services, 'commands' | 'vault'>,
): Promise<string> {
  for (let returns = 0; ; returns += 1) {
    const candidate = returns === 0 ? id : uuidv5(`return ${returns}`, id)
    if ((await kindOf(services, candidate)) !== 'deleted') return candidate
  }
}

/** Thrown when a sign-in with the code host, or the connection of an account, fails or is aborted. */
export class SignInFailed extends Error {
  /** The error code that the client's page gets. */
  readonly value: SignInError | LinkError
  constructor(value: SignInError | LinkError, cause?: unknown) {
    super(value, { cause })
    this.value = value
  }
}

/** Thrown when the account is not on the list of accounts that may sign in. */
export class AccountNotAllowed extends SignInFailed {
  readonly login: string
  constructor(login: string) {
    super('not_allowed')
    this.login = login
  }
}
