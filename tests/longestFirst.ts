/** The order of test files: those that take longest begin first, so that none of them runs alone in the end. */
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Measured, with tests that compute beside tests that wait; a file that is not here comes after those of its project. */
const longest = [
  'codex/cli.test.ts',
  'eventStore.eventStoreDb.spec.ts',
  'jobs.nats.spec.ts',
  'publish.test.ts',
  'e2e/a11y.spec.ts',
  'server/agentRuns.spec.ts',
  'server/chain.spec.ts',
  'e2e/administration.spec.ts',
  'e2e/history.spec.ts',
  'server/pullRequest.spec.ts',
  'e2e/chat.spec.ts',
  'server/crash.spec.ts',
  'e2e/guard.spec.ts',
  'server/signIn.spec.ts',
  'e2e/live.spec.ts',
  'hostile/access.spec.ts',
  'server/projectSettings.spec.ts',
  'e2e/reach.spec.ts',
  'hostile/erasure.spec.ts',
  'hostile/publishing.spec.ts',
  'server/live.spec.ts',
  'e2e/compare.spec.ts',
  'server/cancel.spec.ts',
  'server/hostile.spec.ts',
  'e2e/mainJob.spec.ts',
  'server/limits.spec.ts',
  'e2e/fork.spec.ts',
  'server/queue.spec.ts',
  'server/audit.spec.ts',
  // Of the long ones.
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
 * A worker keeps what it has loaded only as long as the next file is of the same project and environment, and loading takes seconds: those files
 * stand together. Those that wait for other programs come before those that compute, and the browser's, of which each takes long, before the
 * server's.
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

/** By the line that vitest reads too. */
function needsDom(path: string): boolean {
  return readFileSync(path, 'utf8').startsWith('// @vitest-environment jsdom')
}
