/** Which part of a job's log is kept. */
import { expect, test } from 'vitest'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
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
  const [begin, rest] = ['-'.repeat(200), 'the rest of the key']
  const few = Math.floor(feedbackLimits.log / 100)
  // The last 64 KiB begin in the first line of the secret.
  const log = `${begin}\n${rest}\n${`${'x'.repeat(99)}\n`.repeat(few)}`
  const { text } = endOfLog(log, false, (raw) => raw.replaceAll(`${begin}\n${rest}`, '[redacted]'))
  expect(text).not.toContain(rest)
  expect(text).toMatch(/x\n$/)
})

test('does not begin in the middle of a line', () => {
  const { text, isCut } = endOfLog(`${'x'.repeat(998)}y\n`.repeat(100), false, same)
  expect(text).toMatch(/^x{998}y\n/)
  expect(isCut).toBe(true)
})
