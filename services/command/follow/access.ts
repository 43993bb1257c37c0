/** Whose access reads a pull request at the code host. */
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'

/** An access to the code host. Whatever is read by one shares its rate limit. */
export interface ReadAccess {
  readonly holder: string
  /**
   * Throws as `HostAccess.tokenOf` does, and CodeHostFault `rate_limited` while only the tenth of the limit is left that is kept for what
   * people wait for.
   */
  token(): Promise<string>
}

/** Of what the access is to read: a task of `ownerId`, whose repository has this number and owner at the code host, where they are known. */
export interface Read {
  readonly ownerId: string
  readonly repositoryId: string | null
  readonly repositoryOwner?: string | null
}

/** Chooses the access for a task's pull request. */
export type TokenFor = (of: Read) => Promise<ReadAccess>

export interface AccessDeps {
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly installations: Pick<Installations, 'readingToken'>
  readonly codeHost: Pick<CodeHost, 'allowance'>
  readonly clock: Clock
}

/** The App's installation that has the repository; where none has, or cannot be asked for, the task's owner. */
export function readAccess({ access, installations, codeHost, clock }: AccessDeps): TokenFor {
  const sparing = (token: string): string => {
    const left = codeHost.allowance(token)
    const waitMs = left ? left.resetsAt - clock.now().getTime() : 0
    if (left && waitMs > 0 && left.remaining < left.limit / 10)
      throw new CodeHostFault('rate_limited', 'What is left is for people.', undefined, waitMs)
    return token
  }
  return async ({ ownerId, repositoryId, repositoryOwner = null }) => {
    const person: ReadAccess = {
      holder: `user:${ownerId}`,
      token: async () => sparing(await access.tokenOf(ownerId)),
    }
    if (repositoryId === null || repositoryOwner === null) return person
    const repository = { id: repositoryId, owner: repositoryOwner }
    const found = await installations.readingToken(repository).catch(unlessOfHost)
    if (found?.kind !== 'token') return person
    return {
      holder: `installation:${found.installation.id}`,
      token: async () => sparing(found.accessToken),
    }
  }
}

/** The person's own access is tried then, which tells what is the matter. */
function unlessOfHost(fault: unknown): undefined {
  if (!(fault instanceof CodeHostFault)) throw fault
  return undefined
}
