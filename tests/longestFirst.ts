/** The order of test files: those that take longest begin first, so that none of them runs alone in the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Measured; a file that is not here keeps vitest's place after them. */
const longest = [
  'chain.spec.ts',
  'agentRuns.spec.ts',
  'hostLimits.spec.ts',
  'codex/cli.test.ts',
  'eventStore.eventStoreDb.spec.ts',
  'jobs.nats.spec.ts',
  'codeHost.local.spec.ts',
  'changes.test.ts',
  'claude/cli.test.ts',
  'a11y.spec.ts',
  'chat.spec.ts',
  'reach.spec.ts',
  'guard.spec.ts',
  'TaskPage.test.tsx',
  'crash.spec.ts',
  'images.spec.ts',
  'cancel.spec.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(`/${name}`))
      return index < 0 ? longest.length : index
    }
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
