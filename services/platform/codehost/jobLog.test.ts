/** What is kept of a log. */
import { expect, test } from 'vitest'
import { feedbackLimits } from '#domain/task/feedbackRule.ts'
import { endOfLog, endOfStream } from './jobLog.ts'

const at = '2026-01-31T00:00:00.1234567Z '
const same = (text: string) => text
const lines = (...said: string[]) => said.map((line) => `${at}${line}\n`).join('')

test('is the step that failed, without times', () => {
  const log = lines(
    '##[group]Run npm ci',
    'ok',
    '##[endgroup]',
    '##[group]Run npm test',
    'expected 1',
    '##[error]Process completed with exit code 1.',
    'Post job cleanup.',
  )
  const { text, isCut } = endOfLog(log, false, same)
  expect(text).toBe(
    '##[group]Run npm test\nexpected 1\n##[error]Process completed with exit code 1.\nPost job cleanup.\n',
  )
  expect(isCut).toBe(true)
})

test('is all of a short log in which no step is marked', () => {
  expect(endOfLog(lines('one', 'two'), false, same)).toEqual({ text: 'one\ntwo\n', isCut: false })
})

test('is the end of a long one, however it came', async () => {
  async function* long() {
    for (let index = 0; index < 2_000; index += 1) yield Buffer.from(`${'x'.repeat(999)}\n`)
    yield Buffer.from('the end é'.slice(0, 8))
    yield Buffer.from('é\n')
  }
  const { text, isCut } = await endOfStream(long(), same)
  expect(isCut).toBe(true)
  expect(text.length).toBeLessThanOrEqual(feedbackLimits.log)
  expect(text.endsWith('the end é\n')).toBe(true)
})

test('hides a secret before it is cut, so that none that a cut begins in is left', () => {
  const secret = 'correct-horse-battery-staple'
  const after = 'x'.repeat(99)
  const few = Math.ceil(feedbackLimits.log / 100) - 1
  // The cut begins within the secret, and so does every cut that begins a little later.
  for (let by = 0; by < 40; by += 1) {
    const log = `${'-'.repeat(200)}${secret}${'.'.repeat(by)}\n${`${after}\n`.repeat(few)}`
    const { text } = endOfLog(log, false, (raw) => raw.replaceAll(secret, '[redacted]'))
    expect(text).not.toContain('staple')
    expect(text).not.toMatch(/^[^x]/)
  }
  const hidden = endOfLog(`a\n${secret}\n`, false, (raw) => raw.replaceAll(secret, '[redacted]'))
  expect(hidden).toEqual({ text: 'a\n[redacted]\n', isCut: false })
})
