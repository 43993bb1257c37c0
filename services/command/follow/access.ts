/** Whose access reads a pull request at the code host. */
import type { HostAccess } from '#platform/credentials/hostAccess.ts'

/** An access to the code host. Whatever is read by one shares its rate limit. */
export interface ReadAccess {
  readonly holder: string
  /** Throws as `HostAccess.tokenOf` does. */
  token(): Promise<string>
}

/** Chooses the access for a task's pull request; `repositoryId` is the code host's, where it is known. */
export type TokenFor = (of: { readonly ownerId: string; readonly repositoryId: string | null }) => ReadAccess

/** The access of the task's owner. */
export const ownersToken =
  (access: Pick<HostAccess, 'tokenOf'>): TokenFor =>
  ({ ownerId }) => ({ holder: `user:${ownerId}`, token: () => access.tokenOf(ownerId) })
