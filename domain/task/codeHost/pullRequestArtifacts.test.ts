import { expect, test } from 'vitest'
import { artifactSection } from './pullRequestArtifacts.ts'

test('names are links to the task only where there is an address, and never mentions or links of their own', () => {
  const names = ['shot.png', '@ada](https://evil.example)', 'a`b']
  expect(artifactSection(names, null)).toBe(
    '## Artifacts\n\n- `shot.png`\n- `@ada](https://evil.example)`\n- `` a`b ``',
  )
  expect(artifactSection(['shot.png'], 'https://flightdeck.example/tasks/1')).toBe(
    '## Artifacts\n\n- [`shot.png`](https://flightdeck.example/tasks/1)',
  )
})

test('of many names only the first are in the text', () => {
  const text = artifactSection(
    Array.from({ length: 53 }, (_, at) => `${at}.txt`),
    null,
  )
  expect(text.split('\n')).toHaveLength(53)
  expect(text).toMatch(/- and 3 more$/)
})
