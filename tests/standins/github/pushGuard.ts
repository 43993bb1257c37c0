/** Checks git requests and GraphQL mutations: for archived repositories, permissions of Apps, and protected branches. */
import type { Context } from 'koa'
import type { Extension } from '../../../services/codehost/host.ts'
import { Refusal } from '../../../services/codehost/httpError.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'
import type { Wanted } from './apps/permissions.ts'
import { callerOf } from './callers.ts'
import type { GitHubHost } from './host.ts'
import { refuseArchived } from './lifecycle.ts'
import { isGranted, notAccessible } from './requires.ts'

export function pushGuards(host: GitHubHost): Pick<Extension, 'guardGit' | 'guardMutation'> {
  const granted = (ctx: Context, repository: Repository, wanted: Wanted): boolean =>
    isGranted(callerOf(ctx, host), repository, host, [wanted])
  return {
    guardGit: (ctx, repository, access) => {
      if (!granted(ctx, repository, { contents: access }))
        throw new Refusal(403, 'Write access to repository not granted.')
      if (access === 'read') return {}
      if (repository.archived) throw new Refusal(403, 'This repository was archived so it is read-only.')
      const mayChangeWorkflows = granted(ctx, repository, { workflows: 'write' })
      const protections = host.github
        .current()
        .protections.filter(({ repositoryId }) => repositoryId === repository.id)
      if (mayChangeWorkflows && protections.length === 0) return {}
      return {
        env: {
          CODEHOST_GUARDS_WORKFLOWS: mayChangeWorkflows ? undefined : '1',
          CODEHOST_PROTECTED: JSON.stringify(protections),
        },
        settings: host.workflowGuard.settings,
      }
    },
    guardMutation: (ctx, repository) => {
      refuseArchived(repository)
      if (!granted(ctx, repository, { contents: 'write', pull_requests: 'write' })) throw notAccessible()
    },
  }
}
