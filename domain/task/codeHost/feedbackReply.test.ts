import { expect, test } from 'vitest'
import { feedbackReply } from './feedbackReply.ts'

const by = { agent: 'claude', person: 'ada' } as const
const signed = '_Written by the agent Claude for ada, with Flightdeck._'

test('an answer is what the agent said, its commit, and for whom an agent wrote it', () => {
  expect(feedbackReply({ ...by, said: 'I kept the name, since others import it.', commit: 'a1b2c3d' })).toBe(
    `I kept the name, since others import it.\n\nThe changes are in a1b2c3d.\n\n${signed}`,
  )
})

test('an answer without a commit does not claim one', () => {
  expect(feedbackReply({ ...by, said: 'I renamed it.', commit: null })).toBe(
    `Nothing was changed for this.\n\nI renamed it.\n\n${signed}`,
  )
  for (const said of ['', 'Done.', '**Fixed!**'])
    expect(feedbackReply({ ...by, said, commit: null })).toBe(`Nothing was changed for this.\n\n${signed}`)
})

test('an answer mentions nobody, hides nothing, and is of a bounded length', () => {
  const said = `<!-- flightdeck:x -->@ada ${'word '.repeat(1_000)}`
  const answer = feedbackReply({ ...by, person: '@org/team', said, commit: null })
  expect(answer).not.toMatch(/@\w|<!--/)
  expect(answer.length).toBeLessThan(1_700)
})
