/** The order of test files: those that take longest begin first, so that none of them runs alone at the end. */
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Measured, with tests that compute running together with tests that wait. A file that is not listed comes after the listed ones of its project. */
const longest = [
  'contracts/codeHost.spec.ts',
  'acp/cli.test.ts',
  'publish.test.ts',
  'claude/cli.test.ts',
  'eventStore.eventStoreDb.spec.ts',
  'jobs.nats.spec.ts',
  'codex/cli.test.ts',
  'execution/executionWorkspace.test.ts',
  'e2e/a11y.spec.ts',
  'server/agentRuns.spec.ts',
  'server/acpRuns.spec.ts',
  'server/chain.spec.ts',
  'e2e/history.spec.ts',
  'server/pullRequest.spec.ts',
  'e2e/chat.spec.ts',
  'e2e/feedback.spec.ts',
  'e2e/administration.spec.ts',
  'server/crash.spec.ts',
  'e2e/guard.spec.ts',
  'server/signIn.spec.ts',
  'e2e/live.spec.ts',
  'hostile/access.spec.ts',
  'server/projectSettings.spec.ts',
  'e2e/reach.spec.ts',
  'e2e/agentDoings.spec.ts',
  'server/questions.spec.ts',
  'hostile/erasure.spec.ts',
  'server/agentKeys.spec.ts',
  'hostile/publishing.spec.ts',
  'server/idempotency.spec.ts',
  'server/codexTalks.spec.ts',
  'server/mcpOAuth.spec.ts',
  'server/live.spec.ts',
  'e2e/compare.spec.ts',
  'server/cancel.spec.ts',
  'server/hostile.spec.ts',
  'e2e/mainJob.spec.ts',
  'server/limits.spec.ts',
  'e2e/fork.spec.ts',
  'server/queue.spec.ts',
  'server/audit.spec.ts',
  'server/migrate.spec.ts',
  'server/environment.spec.ts',
  'server/images.spec.ts',
  'server/hooks.spec.ts',
  'server/repositories.spec.ts',
  'server/mcpServers.spec.ts',
  'hostile/lateProcess.spec.ts',
  'server/modelRetry.spec.ts',
  'server/acpFaults.spec.ts',
  'hostile/output.spec.ts',
  // From here on, files of the long tests.
  'manyRuns.spec.ts',
  'killPoints.spec.ts',
  'rebuild.spec.ts',
  'tamperings.spec.ts',
  'lostQueue.spec.ts',
  'rebuildKills.spec.ts',
  'startFaults.spec.ts',
  'e2e/chain.spec.ts',
  'killPointsTask.spec.ts',
  'backup.spec.ts',
  'sharedFaults.spec.ts',
  'apart.spec.ts',
  'apartRunners.spec.ts',
  'reconnects.spec.ts',
  'hostileSize.spec.ts',
  'deliveryStorm.spec.ts',
  'erasureApart.spec.ts',
]

/**
 * A worker keeps loaded modules only while the next file has the same project and environment, and loading takes seconds, so such files are together.
 * Files that wait for other programs come before those that compute, and those of the browser, each of which takes long, come before those of the
 * server.
 */
const projects = ['unprivileged', 'outside', 'contracts', 'unit-web', 'unit', 'unit-domain', 'e2e', 'server']

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(`/${name}`))
      const within = index >= 0 ? index : longest.length + (needsDom(moduleId) ? 0 : 1)
      return projects.indexOf(project.name) * (longest.length + 2) + within
    }
    const places = new Map(files.map((file) => [file, place(file)]))
    const placeOf = (file: TestSpecification): number => places.get(file) ?? 0
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

/** Decided by the comment that vitest reads too. */
function needsDom(path: string): boolean {
  return readFileSync(path, 'utf8').startsWith('// @vitest-environment jsdom')
}
