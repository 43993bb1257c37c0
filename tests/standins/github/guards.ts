/** GitHub's table of permissions for the code host's own routes: the permissions that an App needs for each. */
import { Router } from '@koa/router'
import type { Wanted } from './apps/permissions.ts'
import type { GitHubHost } from './host.ts'
import { requires } from './requires.ts'

type Alternatives = readonly [Wanted, ...Wanted[]]

const metadata: Alternatives = [{ metadata: 'read' }]
const contents: Alternatives = [{ contents: 'read' }]
const pulls: Alternatives = [{ pull_requests: 'read' }]
const issues: Alternatives = [{ issues: 'read' }]
const either: Alternatives = [{ issues: 'read' }, { pull_requests: 'read' }]
const changesContents: Alternatives = [{ contents: 'write' }]
const changesPulls: Alternatives = [{ pull_requests: 'write' }]
const changesIssues: Alternatives = [{ issues: 'write' }]
const changesEither: Alternatives = [{ issues: 'write' }, { pull_requests: 'write' }]
const administers: Alternatives = [{ administration: 'write' }]

const table: readonly (readonly [method: string, path: string, needs: Alternatives])[] = [
  ['POST', '/user/repos', administers],
  ['POST', '/orgs/:org/repos', administers],
  ['GET', '/orgs/:org/teams/:team/memberships/:login', [{ members: 'read' }]],
  ['GET', '/repos/:owner/:repo', metadata],
  ['GET', '/repos/:owner/:repo/collaborators/:login/permission', metadata],
  ['GET', '/repos/:owner/:repo/branches', contents],
  ['GET', '/repos/:owner/:repo/branches/*branch', contents],
  ['DELETE', '/repos/:owner/:repo/git/refs/*ref', changesContents],
  ['GET', '/repos/:owner/:repo/compare/*basehead', contents],
  ['GET', '/repos/:owner/:repo/pulls', pulls],
  ['POST', '/repos/:owner/:repo/pulls', changesPulls],
  ['GET', '/repos/:owner/:repo/pulls/:number', pulls],
  ['PATCH', '/repos/:owner/:repo/pulls/:number', changesPulls],
  ['PUT', '/repos/:owner/:repo/pulls/:number/update-branch', changesPulls],
  ['PUT', '/repos/:owner/:repo/pulls/:number/merge', changesContents],
  ['GET', '/repos/:owner/:repo/pulls/:number/reviews', pulls],
  ['POST', '/repos/:owner/:repo/pulls/:number/reviews', changesPulls],
  ['GET', '/repos/:owner/:repo/pulls/:number/reviews/*rest', pulls],
  ['PUT', '/repos/:owner/:repo/pulls/:number/reviews/*rest', changesPulls],
  ['GET', '/repos/:owner/:repo/pulls/:number/comments', pulls],
  ['POST', '/repos/:owner/:repo/pulls/:number/comments', changesPulls],
  ['POST', '/repos/:owner/:repo/pulls/:number/comments/:id/replies', changesPulls],
  ['GET', '/repos/:owner/:repo/pulls/comments/:id', pulls],
  ['PATCH', '/repos/:owner/:repo/pulls/comments/:id', changesPulls],
  ['DELETE', '/repos/:owner/:repo/pulls/comments/:id', changesPulls],
  ['GET', '/repos/:owner/:repo/issues', issues],
  ['POST', '/repos/:owner/:repo/issues', changesIssues],
  ['GET', '/repos/:owner/:repo/issues/:number', either],
  ['PATCH', '/repos/:owner/:repo/issues/:number', changesIssues],
  ['GET', '/repos/:owner/:repo/issues/:number/events', issues],
  ['GET', '/repos/:owner/:repo/issues/:number/comments', either],
  ['POST', '/repos/:owner/:repo/issues/:number/comments', changesEither],
  ['GET', '/repos/:owner/:repo/issues/comments/:id', either],
  ['PATCH', '/repos/:owner/:repo/issues/comments/:id', changesEither],
  ['DELETE', '/repos/:owner/:repo/issues/comments/:id', changesEither],
  ['GET', '/repos/:owner/:repo/labels', either],
  ['POST', '/repos/:owner/:repo/labels', changesEither],
  ['GET', '/repos/:owner/:repo/issues/:number/labels', either],
  ['POST', '/repos/:owner/:repo/issues/:number/labels', changesEither],
  ['DELETE', '/repos/:owner/:repo/issues/:number/labels/:name', changesEither],
]

/** Lets calls pass that the token's App has permission for, and refuses the others. */
export function guardRoutes(host: GitHubHost): Router {
  const router = new Router({ prefix: '/api/v3' })
  for (const [method, path, needs] of table)
    router.register(path, [method.toLowerCase()], requires(host, ...needs))
  return router
}
