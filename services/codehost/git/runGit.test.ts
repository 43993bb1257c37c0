import { expect, test } from 'vitest'
import { createGit, GitFault } from './runGit.ts'

test('an output that is too long is a fault for those who want the whole text', async () => {
  const git = createGit({ PATH: '/usr/local/bin:/usr/bin:/bin' })
  expect(await git.text(['version'])).toMatch(/^git version /)
  expect(await git.run(['version'], { maxBytes: 3 })).toMatchObject({
    stdout: Buffer.from('git'),
    truncated: true,
  })
  await expect(git.text(['version'], { maxBytes: 3 })).rejects.toThrow(GitFault)
})
