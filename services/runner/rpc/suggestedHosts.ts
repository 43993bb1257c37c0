/** The hosts that package managers are configured with in a project's repository. */
import type { HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { hostsIn, repositoryFiles } from '../egress/configuredHosts.ts'
import { endedWell } from '../workspace/git/git.ts'
import { submodulesOf } from '../workspace/git/survey.ts'
import { fetchedRepository } from './repositoryFacts.ts'

const maxBytes = 8 * 1024 * 1024
const maxSuggestions = 40
const gitTimeoutMs = 2_000

export type HostsDeps = Pick<
  WorkspaceDeps,
  'documents' | 'accessControl' | 'access' | 'codeHost' | 'git' | 'mirrors' | 'logger'
>

/** Hosts of the repository's own files alone: what the server itself is configured with says nothing of the project. */
export async function suggestedHosts(deps: HostsDeps, question: Asked<'hosts'>): Promise<Answered<'hosts'>> {
  const found = await inRepository(deps, question).catch((fault: unknown) => {
    deps.logger.info({ err: fault }, 'failed to suggest hosts for a repository')
    return []
  })
  const byHost = new Map(found.map((each) => [each.host, each]))
  return { suggestions: [...byHost.values()].slice(0, maxSuggestions) }
}

async function inRepository(deps: HostsDeps, question: Asked<'hosts'>): Promise<readonly HostSuggestion[]> {
  const fetched = await fetchedRepository(deps, question)
  if (!fetched) return []
  const { gitDir, tree, url } = fetched
  const read = (args: readonly string[]) =>
    deps.git({ gitDir, args, timeoutMs: gitTimeoutMs, maxOutputBytes: maxBytes })
  const own = (await submodulesOf(deps.git, { gitDir, commit: tree, url })).filter(({ isOnHost }) => isOnHost)
  const submodules = own.map(({ repository: host, path }) => ({
    host: host.toLowerCase(),
    from: `.gitmodules: ${path}`,
  }))
  const listed = await read(['ls-tree', '-z', '--name-only', tree, '--', ...repositoryFiles.keys()])
  if (!endedWell(listed)) return submodules
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
  return [...submodules, ...found.flat()]
}
