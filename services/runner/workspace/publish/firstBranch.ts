/** Makes the first branch of an empty repository: one commit without files, from which work begins and with which it is compared. */
import { rm } from 'node:fs/promises'
import type { NamedCredential } from '#domain/appPermissions.ts'
import type { Scratch } from '../../scratch.ts'
import { emptyTree, endedWell, gitOrThrow, gitText, pushRef, type Git } from '../git/git.ts'
import { commitAs, type CommitSigner, type Person } from './commitIdentity.ts'
import { pushRefusal } from './publish.ts'

export interface FirstBranchRequest {
  /** git on the host, outside of any sandbox, as made by `hostGit`. */
  readonly git: Git
  readonly scratch: Scratch
  readonly branch: string
  /** The person, who is also the committer unless this server signs. */
  readonly author: Person
  readonly signer?: CommitSigner | undefined
  readonly url: string
  readonly authorization?: string | undefined
  /** The owner of the credential, for messages; by default the person. */
  readonly accessOf?: NamedCredential | undefined
  readonly signal?: AbortSignal | undefined
}

const message = 'Initial commit\n'

/**
 * Makes the branch at the host by a single push without force. If somebody else makes the branch at the same moment, their branch stays and our push
 * is refused. Returns `null` when the branch was made, and otherwise the reason. The caller then checks again what the host has. Throws `GitFault`.
 */
export async function makeFirstBranch(request: FirstBranchRequest): Promise<string | null> {
  const { git, branch, url, authorization, signal } = request
  const gitDir = await request.scratch.make()
  try {
    await gitOrThrow(git, { args: ['init', '--quiet', '--bare', '--template=', '--', gitDir], signal })
    const tree = await emptyTree(git, gitDir)
    const { settings, flags, env } = commitAs(request.author, request.signer)
    const commit = await gitText(git, {
      gitDir,
      args: [...settings, 'commit-tree', ...flags, '-F', '-', tree],
      env,
      input: message,
      signal,
    })
    const host = { gitDir, url, authorization, timeoutMs: 120_000, signal }
    const pushed = await pushRef(git, host, `${commit}:refs/heads/${branch}`)
    return endedWell(pushed) ? null : pushRefusal(pushed, request.accessOf).message
  } finally {
    await rm(gitDir, { recursive: true, force: true })
  }
}
