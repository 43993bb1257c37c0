import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { parseDiff } from './parseDiff.ts'

const folder = mkdtempSync(join(tmpdir(), 'parse-diff-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The diff that git makes between two texts. */
function gitDiff(before: string, after: string): string {
  writeFileSync(join(folder, 'before'), before)
  writeFileSync(join(folder, 'after'), after)
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
    execFileSync('git', ['diff', '--no-index', '--no-color', 'before', 'after'], { cwd: folder, env })
    return ''
  } catch (thrown) {
    if (thrown instanceof Error && 'stdout' in thrown) return String(thrown.stdout)
    throw thrown
  }
}

const sample = `diff --git a/deliver.ts b/deliver.ts
index 1..2 100644
--- a/deliver.ts
+++ b/deliver.ts
@@ -38,4 +38,5 @@ export type Delivery = {
 async function deliver() {
-  const res = post(endpoint.url)
-  gone()
+  const res = post(endpoint)
+  claim()
+  more()
 }
@@ -90 +91,2 @@
-last
\\ No newline at end of file
+last
+--- not a header
`

describe('a diff', () => {
  test('is hunks of numbered lines', () => {
    const hunks = parseDiff(sample)
    expect(hunks.map(({ header }) => header)).toEqual([
      '@@ -38,4 +38,5 @@ export type Delivery = {',
      '@@ -90 +91,2 @@',
    ])
    expect(hunks[0]?.lines.map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
      ['context', 38, 38, 'async function deliver() {'],
      ['deleted', 39, null, '  const res = post(endpoint.url)'],
      ['deleted', 40, null, '  gone()'],
      ['added', null, 39, '  const res = post(endpoint)'],
      ['added', null, 40, '  claim()'],
      ['added', null, 41, '  more()'],
      ['context', 41, 42, '}'],
    ])
  })

  test('a line that took the place of another knows it', () => {
    const counterparts = parseDiff(sample)[0]?.lines.map(({ counterpart }) => counterpart)
    expect(counterparts).toEqual([
      null,
      '  const res = post(endpoint)',
      '  claim()',
      '  const res = post(endpoint.url)',
      '  gone()',
      null,
      null,
    ])
  })

  test('a missing line break at the end is told, and lines that look like headers are lines', () => {
    expect(parseDiff(sample)[1]?.lines.map(({ text, noNewline }) => [text, noNewline])).toEqual([
      ['last', true],
      ['last', false],
      ['--- not a header', false],
    ])
  })

  test('of a binary file, or of nothing, has no hunks', () => {
    expect(parseDiff('')).toEqual([])
    expect(parseDiff('diff --git a/x b/x\nBinary files a/x and b/x differ\n')).toEqual([])
  })

  test('whatever git says of two files, both can be read out of it', () => {
    const line = fc.constantFrom('a', 'b', '', '+c', '-d', ' e', '\\f', '@@ -1 +1 @@', '--- g')
    const file = fc
      .array(line, { maxLength: 12 })
      .chain((lines) => fc.constantFrom('', '\n').map((end) => lines.join('\n') + end))
    fc.assert(
      fc.property(file, file, (before, after) => {
        const hunks = parseDiff(gitDiff(before, after))
        const side = (which: 'before' | 'after') =>
          new Map(
            hunks.flatMap(({ lines }) =>
              lines.flatMap((each) => (each[which] === null ? [] : [[each[which], each.text]])),
            ),
          )
        for (const [which, text] of [
          ['before', before],
          ['after', after],
        ] as const) {
          const whole = text.split('\n')
          for (const [number, shown] of side(which)) expect(shown).toBe(whole[number - 1])
        }
        const changed = hunks.flatMap(({ lines }) => lines).some(({ kind }) => kind !== 'context')
        expect(changed).toBe(before !== after)
      }),
      { numRuns: 40 },
    )
  })
})
