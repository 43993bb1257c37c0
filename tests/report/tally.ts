/** A reporter of vitest that leaves the totals, and each skipped test with its reason, in the file FLIGHTDECK_TEST_TALLY. */
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

/** A test run in numbers. A file that cannot be loaded and a fault outside of every test are failures too. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env['FLIGHTDECK_TEST_TALLY']
    if (file) writeFileSync(file, JSON.stringify(tallyOf(modules, unhandled)))
  }
}

function tallyOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const states = tests.map((test) => test.result().state)
  return {
    passed: states.filter((state) => state === 'passed').length,
    failed:
      // A test that never came to an end has not passed.
      states.filter((state) => state === 'failed' || state === 'pending').length +
      modules.flatMap(faultsOutsideTests).length +
      unhandled.length,
    skipped: tests.flatMap(skipOf),
  }
}

/** Faults of the file and of its suites: an import, a hook. */
function faultsOutsideTests(module: TestModule): unknown[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
}

function skipOf(test: TestCase): Tally['skipped'] {
  const result = test.result()
  if (result.state !== 'skipped') return []
  return [{ name: test.fullName, reason: result.note ?? 'no reason is given beyond its name' }]
}
