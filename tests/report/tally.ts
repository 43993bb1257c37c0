/**
 * A reporter for vitest that writes the totals, each failure and each skipped test with its reason, the attacks, and the cases of each port into the
 * file FLIGHTDECK_TEST_TALLY.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from 'vitest/node'
import { attacksIn } from './attacksPage.ts'

/** A test run in numbers. A file that cannot be loaded, and a fault outside of every test, are failures too. */
export interface Tally {
  readonly passed: number
  readonly failed: readonly Named[]
  readonly skipped: readonly Named[]
  readonly ports: readonly PortCases[]
  /** Tests that try what an attacker would try. */
  readonly attacks: { readonly refused: number; readonly cases: number }
}

/** A test that failed or was skipped, or a file or run with a fault outside of its tests, with the reason. */
export interface Named {
  readonly name: string
  readonly reason: string
}

/** The results of a port's contract suite for one adapter. */
export interface PortCases {
  /** The title of the suite: `port: adapter`. */
  readonly suite: string
  /** The version of Node, such as `20.19.0`. */
  readonly node: string
  readonly passed: number
  readonly cases: number
}

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env['FLIGHTDECK_TEST_TALLY']
    if (file) writeFileSync(file, JSON.stringify(tallyOf(modules, unhandled)))
  }
}

function tallyOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  return {
    passed: passedOf(tests),
    failed: [
      ...tests.flatMap(failureOf),
      ...modules.flatMap((module) =>
        faultsOutsideTests(module).map((error) => ({
          name: module.relativeModuleId,
          reason: beginningOf(error),
        })),
      ),
      ...unhandled.map((error) => ({ name: 'outside of every test', reason: beginningOf(error) })),
    ],
    skipped: tests.flatMap(skipOf),
    attacks: { refused: passedOf(tests.filter(isAttack)), cases: tests.filter(isAttack).length },
    ports: modules
      .filter((module) => module.moduleId.includes('/contracts/'))
      .flatMap((module) => [...module.children.allSuites()])
      .filter((suite) => suite.name.includes(': '))
      .map(portOf),
  }
}

/** Whether it is a test of the red-team suite, one named after a finding of the security review, or one below a comment `// Attacks …`. */
function isAttack({ module, fullName }: TestCase): boolean {
  return (
    /\/tests\/(long\/)?hostile\//.test(module.moduleId) ||
    /\bfinding (\d+|low)\b/.test(fullName) ||
    attackTitlesOf(module.moduleId).some((title) => isNamed(fullName, title))
  )
}

const attackTitles = new Map<string, readonly string[]>()
function attackTitlesOf(file: string): readonly string[] {
  const read = () => attacksIn(readFileSync(file, 'utf8'), file).flatMap(({ title }) => title ?? [])
  const titles = attackTitles.get(file) ?? read()
  attackTitles.set(file, titles)
  return titles
}

/** Whether a test, or the group around it, has this title, in which `%s`, `$name` and `${name}` stand for anything. */
export function isNamed(fullName: string, title: string): boolean {
  const pieces = title.replaceAll(' › ', ' > ').split(/%[a-z]|\$\{[^}]*\}|\$[\w.]+/i)
  let at = 0
  return pieces.every((piece, index) => {
    const found = fullName.indexOf(piece, at)
    at = found + piece.length
    return index === 0 ? found === 0 : found !== -1
  })
}

function passedOf(tests: readonly TestCase[]): number {
  return tests.filter((test) => test.result().state === 'passed').length
}

function portOf(suite: TestSuite): PortCases {
  const tests = [...suite.children.allTests()]
  return { suite: suite.name, node: process.versions.node, passed: passedOf(tests), cases: tests.length }
}

/** The faults of the file and of its suites, such as those of an import or a hook. */
function faultsOutsideTests(module: TestModule): SerializedError[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
}

/** A test that did not come to an end has not passed. */
function failureOf(test: TestCase): Named[] {
  const result = test.result()
  if (result.state !== 'failed' && result.state !== 'pending') return []
  const error = result.state === 'failed' ? result.errors[0] : undefined
  const reason = error ? beginningOf(error) : 'it never came to an end'
  return [{ name: `${test.module.relativeModuleId} > ${test.fullName}`, reason }]
}

function beginningOf(error: SerializedError): string {
  return error.message.replace(/\s+/g, ' ').slice(0, 200)
}

function skipOf(test: TestCase): Named[] {
  const result = test.result()
  if (result.state !== 'skipped') return []
  return [{ name: test.fullName, reason: result.note ?? 'no reason is given beyond its name' }]
}
