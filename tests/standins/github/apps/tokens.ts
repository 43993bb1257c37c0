/** Tokens of installations: valid for an hour, with at most the granted permissions, in either of GitHub's two forms. */
import { randomBytes } from 'node:crypto'
import { invalid, Refusal } from '../../../../services/codehost/httpError.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { Installation, InstallationToken, Permissions } from '../state.ts'
import type { Stores } from '../stores.ts'
import { newToken, tokenHash } from '../../../../services/codehost/state/tokens.ts'
import { repositoriesOn } from './installations.ts'
import { grants } from './permissions.ts'

/** `short` is `ghs_` and 36 letters; `long` is `ghs_APPID_` and a JSON Web Token, about 520 characters with dots. */
export type TokenShape = 'short' | 'long'

export interface TokenRequest {
  readonly repositoryIds?: readonly number[] | undefined
  /** Repository names without the owner. */
  readonly repositories?: readonly string[] | undefined
  readonly permissions?: Permissions | undefined
}

const lifeMs = 3_600_000
/** More tokens than any program on one host needs in an hour; the oldest are dropped first. */
const mostTokens = 2_000

/** Creates a token of the installation. Throws Refusal 403 when the installation is suspended, and 422 for permissions that were not granted. */
export async function makeToken(
  { github, store, clock }: Stores,
  installation: Installation,
  request: TokenRequest,
  shape: TokenShape,
): Promise<{
  readonly token: string
  readonly kept: InstallationToken
  readonly repositories: readonly Repository[]
}> {
  if (installation.suspended !== null) throw new Refusal(403, 'This installation has been suspended')
  const permissions = request.permissions ?? installation.permissions
  if (!grants(installation.permissions, permissions)) {
    throw new Refusal(422, 'The permissions requested are not granted to this installation.')
  }
  const available = repositoriesOn(store.current().repositories, installation)
  const chosen = chosenOf(available, request)
  const now = clock.now()
  const token = shape === 'long' ? longToken(installation.appId) : newToken('ghs_')
  const kept: InstallationToken = {
    hash: tokenHash(token),
    installationId: installation.id,
    repositoryIds: chosen && chosen.map(({ id }) => id),
    permissions: { metadata: 'read', ...permissions },
    expiresAt: new Date(now.getTime() + lifeMs).toISOString(),
  }
  await github.update((state) => {
    const alive = state.installationTokens.filter((one) => new Date(one.expiresAt) > now)
    return [{ ...state, installationTokens: [...alive.slice(1 - mostTokens), kept] }, undefined]
  })
  return { token, kept, repositories: chosen ?? available }
}

function chosenOf(available: readonly Repository[], request: TokenRequest): readonly Repository[] | null {
  const { repositoryIds, repositories: names } = request
  if (repositoryIds === undefined && names === undefined) return null
  if ((repositoryIds?.length ?? 0) + (names?.length ?? 0) > 500) {
    throw invalid({ resource: 'Installation', field: 'repository_ids', code: 'invalid' })
  }
  const found = [
    ...(repositoryIds ?? []).map((id) => available.find((one) => one.id === id)),
    ...(names ?? []).map((name) => available.find((one) => one.name.toLowerCase() === name.toLowerCase())),
  ]
  return [...new Set(found)].map((one) => {
    if (one) return one
    throw new Refusal(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  })
}

/** The form of GitHub's tokens since April 2026. Only the host reads the content, which is random here. */
function longToken(appId: number): string {
  const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT' })).toString('base64url')
  const claims = Buffer.from(JSON.stringify({ jti: randomBytes(207).toString('base64url') })).toString(
    'base64url',
  )
  return `ghs_${appId}_${header}.${claims}.${randomBytes(64).toString('base64url')}`
}
