/** Registering and signing in with a password. */
import { login, register } from '#domain/api/auth.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { recordRefusal } from '#platform/access/auditLog.ts'
import { type Route, routeWith } from '#platform/http/route.ts'
import type { Passwords } from '#platform/credentials/passwords.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { keyedId } from '#platform/access/accountId.ts'
import { unusedUserId } from './accounts.ts'
import { signedInWith } from './session.ts'
import type { LoginThrottle } from './loginThrottle.ts'

const route = routeWith<GatewayServices>()
const projectionTimeoutMs = 2_000

/**
 * The routes for registering and signing in. A sign-in checks `slow` twice: before its password is queued for checking, and before it is checked,
 * since other attempts may have failed in between.
 */
export function passwordRoutes(
  { passwordSignIn }: Pick<GatewayOptions, 'passwordSignIn'>,
  { passwords, slow }: { readonly passwords: Passwords; readonly slow: LoginThrottle },
): readonly Route<GatewayServices>[] {
  const turnedOn = async () => {
    if (!passwordSignIn) throw new Fault('password_sign_in_off')
    return {}
  }
  return [
    route(register, turnedOn, async ({ body, client, commandId, requestId }, services) => {
      const { name, email, password } = body
      // The list of allowed people names accounts at the code host, and a person with a password has none.
      if (!services.accessControl.isOpen) throw new Fault('not_allowed', services.accessControl.refusal(null))
      const from = { address: client.ip }
      await slow.check(from)
      const userId = await userIdOf(email, services)
      const { state } = await services.commands.load(user, userStream(userId))
      if (state.kind === 'user') {
        // This attempt counts as a failure, because registering many addresses would reveal which ones are taken.
        await slow.failed(from)
        throw new Fault('already_exists', addressTaken, 'email')
      }
      const hash = await passwords.limited((hashing) => hashing.hash(password))
      const credential = { userId, credentialId: services.ids.uuid() }
      return keepingHash(credential, hash, services, async () => {
        const session = { userId, ...services.sessions.begin(client.get('user-agent')) }
        const executed = await services.commands.execute(
          user,
          userStream(userId),
          { type: 'Register', name, email, ...credential, ...session },
          { actor: { kind: 'user', userId }, commandId, correlationId: requestId },
        )
        return signedInWith(executed, session, services, projectionTimeoutMs)
      })
    }),
    route(login, turnedOn, async ({ body, client, commandId, requestId }, services) => {
      const { email, password } = body
      const trying = { address: client.ip, account: email }
      await slow.check(trying)
      const userId = await userIdOf(email, services)
      const { state } = await services.commands.load(user, userStream(userId))
      const credentialId = state.kind === 'user' ? state.credentialId : null
      // Does the same work for an unknown address, so that the answer takes equally long.
      const hash = await services.vault.getSecret(scopeOf(userId), secretOf(credentialId ?? 'none'))
      const isRight = await passwords.limited(async (hashing) => {
        await slow.check(trying)
        const matches = await hashing.matches(password, hash)
        if (!matches) await slow.failed(trying)
        return matches
      })
      const refused = (code: string) =>
        recordRefusal(
          services,
          { method: 'password', code, userId: state.kind === 'user' ? userId : null },
          { commandId, correlationId: requestId },
        )
      if (!isRight || credentialId === null) {
        await refused('wrong_password')
        throw new Fault('wrong_password')
      }
      await slow.succeeded(trying)
      await services.accessControl.check(userId).catch(async (fault: unknown) => {
        if (fault instanceof Fault) await refused(fault.code)
        throw fault
      })
      const session = { userId, ...services.sessions.begin(client.get('user-agent')) }
      const executed = await services.commands.execute(
        user,
        userStream(userId),
        { type: 'SignInWithPassword', credentialId, ...session },
        { actor: { kind: 'user', userId }, commandId, correlationId: requestId },
      )
      return signedInWith(executed, session, services, projectionTimeoutMs)
    }),
  ]
}

const addressTaken = 'An account with this email address already exists. Sign in instead.'

/**
 * The user id for an email address: the same until its account is deleted, so that two people who register the same address meet in one stream.
 * Without the master key nobody can derive the address from the id.
 */
function userIdOf(email: string, services: Pick<GatewayServices, 'vault' | 'commands'>): Promise<string> {
  const id = keyedId(services.vault.deriveKey('password-identity'), email)
  return unusedUserId(id, services)
}

const scopeOf = (userId: string): string => `user:${userId}`
const secretOf = (credentialId: string): string => `password:${credentialId}`

interface Credential {
  readonly userId: string
  readonly credentialId: string
}

/** Stores the hash, and then calls `record`, which records the event that refers to the hash. Removes the hash if the event was not recorded. */
async function keepingHash<T>(
  { userId, credentialId }: Credential,
  hash: string,
  { vault, commands }: GatewayServices,
  record: () => Promise<T>,
): Promise<T> {
  await vault.putSecret(scopeOf(userId), secretOf(credentialId), hash)
  try {
    return await record()
  } catch (fault) {
    // The append may have succeeded despite the error. If that cannot be determined, the unused hash stays, which does no harm.
    const now = await commands.load(user, userStream(userId)).catch(() => undefined)
    const counts = now?.state.kind === 'user' && now.state.credentialId === credentialId
    if (now !== undefined && !counts) await vault.removeSecret(scopeOf(userId), secretOf(credentialId))
    throw fault
  }
}
