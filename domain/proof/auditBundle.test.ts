import { expect, test } from 'vitest'
import { z } from 'zod'
import { taskEvents } from '../task/events.ts'
import { categoriesOf } from './auditBundle.ts'

test('what repeats the words of a person is left out with the prompts, in whichever event it stands', () => {
  const words = ['title', 'description', 'message', 'body', 'transcript']
  const repeating = taskEvents.filter(
    ({ content }) =>
      content instanceof z.ZodObject && Object.keys(content.shape).some((name) => words.includes(name)),
  )
  const open = repeating.filter(({ type }) => !categoriesOf(type).includes('prompts'))
  // The agent, or the product, said it.
  expect(open.map(({ type }) => type)).toEqual(['MessagePosted', 'QuestionAsked'])
  expect(categoriesOf('FeedbackSent')).toContain('prompts')
  expect(repeating.length).toBeGreaterThan(5)
})
