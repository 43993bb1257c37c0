/** Creates the parts of the local code host and connects them with each other. */
import type { Clock } from '#platform/ports/clock.ts'
import type { Environment, Git } from './git/runGit.ts'
import { createHook, type Hook } from './webhookSender.ts'
import type { Extension, Host, OAuthClient } from './host.ts'
import { isLoopback } from './http/origin.ts'
import { createIssues } from './issues/issues.ts'
import { sameSecret } from './oauth.ts'
import { createPullRequests } from './pulls/pullRequests.ts'
import { openRepositories } from './repositories/repositories.ts'
import { createComments } from './reviews/comments.ts'
import { createReviews } from './reviews/reviews.ts'
import { makeSamples } from './samples.ts'
import { importSeeds, type Seed } from './seeds.ts'
import { createCodes } from './state/authorizationCodes.ts'
import type { HostEvent } from './state/events.ts'

export interface CodeHostOptions {
  /** The folder for repositories and state, which is created if missing. Only one process may use it at a time. */
  readonly dataDir: string
  readonly host: string
  /** The port to listen on; 0 for any free port. */
  readonly port: number
  readonly clientId: string
  readonly clientSecret: string
  /** The addresses to which people may be redirected, in addition to http addresses on loopback. */
  readonly redirectUris?: readonly string[]
  /** Repositories to import, as public repositories of the account `ada`. Without seeds, an empty code host gets sample repositories. */
  readonly seeds: readonly Seed[]
  /**
   * The operator's environment. git gets the PATH and the folder for temporary files from it and, to clone a seed, also the variables for reaching
   * other hosts, such as HOME.
   */
  readonly environment: Environment
  /** The address for webhooks. By default, no webhooks are sent. */
  readonly hook?: Hook
  /** Makes an extension, once the parts of the code host exist. By default, there is no extension. */
  readonly extend?: (host: Host) => Promise<Extension>
  readonly clock?: Clock
  /** Writes a line to the log. The line must not contain a secret. */
  readonly log: (line: string) => void
}

/** Creates the code host on its stored state. Imports the seeds; without seeds, makes samples if the code host is empty. */
export async function openHost(
  options: CodeHostOptions,
  { git, store, port }: { git: Git; store: Host['store']; port: number },
): Promise<Host> {
  const { dataDir, log, clock = { now: () => new Date() } } = options
  const tellHook = options.hook ? createHook(options.hook, log) : undefined
  const extension: { -readonly [Name in keyof Extension]: Extension[Name] } = {}
  const tell = (event: HostEvent) => {
    tellHook?.(event)
    extension.tell?.(event)
  }
  const repositories = await openRepositories({ dataDir, store, git, clock, tell })
  const issues = createIssues({ store, clock, tell })
  const standing: Host['pulls']['standing'] = (repository, pull) => ({
    checks: extension.checks?.(repository, pull.headSha) ?? null,
    decision: extension.reviewDecision?.(repository, pull) ?? null,
  })
  const pulls = createPullRequests({ store, repositories, issues, clock, standing, tell })
  const reviews = createReviews({ store, repositories, pulls, clock, tell })
  const comments = createComments({ store, clock, tell })
  const [url, codes, client] = [urlOf(options.host, port), createCodes(clock), clientOf(options)]
  const domain = { repositories, issues, pulls, reviews, comments }
  const host: Host = { url, dataDir, store, git, ...domain, codes, client, clock, extension, tell, log }
  Object.assign(extension, await options.extend?.(host))
  if (options.seeds.length > 0) {
    await importSeeds(options.seeds, { git, repositories, log })
  } else if (store.current().repositories.length === 0) {
    await makeSamples({ git, repositories })
  }
  // After a crash during a push, a pull request may lack commits of its branch. `settle` adds them.
  const withOpenPulls = store
    .current()
    .repositories.filter((one) => pulls.of(one).some((pull) => pull.closedAt === null))
  for (const repository of withOpenPulls)
    await repositories
      .settle(repository)
      .catch((fault: unknown) =>
        log(
          `the pull requests of ${repository.owner}/${repository.name} stay as they were: ${String(fault)}`,
        ),
      )
  return host
}

const clientOf = ({ clientId, clientSecret, redirectUris = [] }: CodeHostOptions): OAuthClient => ({
  clientId,
  name: 'Flightdeck',
  callbackUrls: redirectUris,
  hasSecret: (secret) => sameSecret(secret, clientSecret),
})

function urlOf(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = isLoopback(host) || everywhere ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
