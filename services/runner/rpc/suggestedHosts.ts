/** The hosts that package managers are configured with, on this machine and in a project's repository. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { hostsIn, repositoryFiles, systemFiles } from '../egress/configuredHosts.ts'
import { mirrored, reachAsPerson } from '../execution/repositoryAccess.ts'
import { endedWell } from '../workspace/git/git.ts'
import { mirrorPath } from '../workspace/names.ts'

const mostBytes = 8 * 1024 * 1024
const mostSuggestions = 40
const withinMs = 2_000

export type HostsDeps = Pick<
  WorkspaceDeps,
  'documents' | 'accessControl' | 'access' | 'codeHost' | 'git' | 'root' | 'logger'
>

/** `home`: that of the runner's user. */
export async function suggestedHosts(
  deps: HostsDeps,
  asked: Asked<'hosts'>,
  home: string | undefined,
): Promise<Answered<'hosts'>> {
  const [ofRepository, ofSystem] = await Promise.all([
    inRepository(deps, asked).catch((fault: unknown) => {
      deps.logger.info({ err: fault }, 'failed to suggest hosts for a repository')
      return []
    }),
    onSystem(home),
  ])
  const byHost = new Map([...ofSystem, ...ofRepository].map((found) => [found.host, found]))
  return { suggestions: [...byHost.values()].slice(0, mostSuggestions) }
}

async function onSystem(home: string | undefined): Promise<readonly HostSuggestion[]> {
  const found = await Promise.all(
    [...systemFiles].map(async ([path, format]) => {
      const isOfUser = path.startsWith('~/')
      if (isOfUser && home === undefined) return []
      const text = await readFile(isOfUser ? join(home ?? '', path.slice(2)) : path, 'utf8').catch(() => '')
      return hostsIn(format, text).map((host) => ({ host, from: `${path} on the server` }))
    }),
  )
  return found.flat()
}

/** Of the mirror as it is, if the person may still read the repository. */
async function inRepository(
  deps: HostsDeps,
  { projectId, ownerId }: Asked<'hosts'>,
): Promise<readonly HostSuggestion[]> {
  const reached = await reachAsPerson(deps, { owner: ownerId, projectId })
  if (reached.kind === 'failed') return []
  const { repository, access } = reached
  const { url, ...known } = mirrored(reached)
  const { defaultBranch } = await deps.codeHost.repository(access.accessToken, repository)
  const gitDir = join(deps.root, mirrorPath(url, known))
  const read = (args: readonly string[]) =>
    deps.git({ gitDir, args, timeoutMs: withinMs, maxOutputBytes: mostBytes })
  const tree = `refs/heads/${defaultBranch}`
  const listed = await read(['ls-tree', '-z', '--name-only', tree, '--', ...repositoryFiles.keys()])
  if (!endedWell(listed)) return []
  const names = listed.stdout.toString('utf8').split('\0')
  const found = await Promise.all(
    [...repositoryFiles].map(async ([path, format]) => {
      if (!names.includes(path)) return []
      const file = await read(['cat-file', 'blob', `${tree}:${path}`])
      return endedWell(file)
        ? hostsIn(format, file.stdout.toString('utf8')).map((host) => ({ host, from: path }))
        : []
    }),
  )
  return found.flat()
}
