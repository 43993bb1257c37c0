/** The order of test files: those that take longest begin first, so that none of them runs alone in the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Measured, with tests that compute beside tests that wait; a file that is not here comes after them. */
const longest = [
  'codex/cli.test.ts',
  'eventStore.eventStoreDb.spec.ts',
  'jobs.nats.spec.ts',
  'publish.test.ts',
  'e2e/a11y.spec.ts',
  'server/agentRuns.spec.ts',
  'server/chain.spec.ts',
  'e2e/administration.spec.ts',
  'hostile/hostLimits.spec.ts',
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
]

/**
 * Within the rest, those that wait for other programs come before those that compute, and a project's files stand together: a worker
 * keeps what it has loaded only as long as the next file is of the same project.
 */
const projects = ['outside', 'contracts', 'unit-web', 'unit', 'unit-domain']

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(`/${name}`))
      return index < 0 ? longest.length + projects.indexOf(project.name) : index
    }
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
