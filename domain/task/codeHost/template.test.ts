/** The body of a pull request: our words, and below them the repository's own template. */
import { expect, test } from 'vitest'
import { belowTemplateMark, withTemplate } from './template.ts'

const ours = 'It says goodbye now.\n\n---\n\n[Record of this task](https://deck.example/tasks/1)\n'

test('the template stands below the words of the task, with its remarks', () => {
  const body = withTemplate(ours, '## Checklist\n\n<!-- tick what holds -->\n- [ ] Tests\n')
  expect(body).toBe(
    `${ours.trimEnd()}\n\n---\n<!-- Template of the repository -->\n\n## Checklist\n\n<!-- tick what holds -->\n- [ ] Tests\n`,
  )
  expect(withTemplate(ours, null)).toBe(ours)
})

test('a template that makes the body longer than GitHub takes is left out', () => {
  const long = 'x'.repeat(60_000)
  expect(withTemplate(long, 'y'.repeat(6_000))).toBe(long)
  expect(withTemplate(long, 'y'.repeat(4_000)).length).toBeLessThan(65_536)
})

test('what people filled in below stays when the words above are written anew', () => {
  const before = withTemplate(ours, '- [ ] Tests')
  const filled = before.replace('[ ]', '[x]')
  expect(withTemplate('Other words.', belowTemplateMark(filled))).toBe(
    'Other words.\n\n---\n<!-- Template of the repository -->\n\n- [x] Tests',
  )
  expect(belowTemplateMark('Nothing of it.')).toBeNull()
  // The words above cannot pretend to be it.
  const forged = withTemplate('<!-- Template of the repository --> forged', '- [ ] Tests')
  expect(belowTemplateMark(forged)).toBe('- [ ] Tests')
})
