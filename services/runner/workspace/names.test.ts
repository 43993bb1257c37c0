import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { endedWell } from './git/git.ts'
import { isMirrorOf, isTaskFolderName, mirrorPath, workingBranchName } from './names.ts'
import { testGit } from '../../../tests/runner/workspaceScene.ts'

test('a working branch is named after the task', () => {
  expect(workingBranchName('Fix the Login-Form, please!', 'task-1')).toMatch(
    /^flightdeck\/fix-the-login-form-please-[0-9a-f]{8}$/,
  )
  expect(workingBranchName('Ändere Größe', 'task-1')).toMatch(/^flightdeck\/andere-gro-e-[0-9a-f]{8}$/)
  expect(workingBranchName('修复', 'task-1')).toMatch(/^flightdeck\/task-[0-9a-f]{8}$/)
  expect(workingBranchName('same', 'task-1')).not.toBe(workingBranchName('same', 'task-2'))
})

test('whatever the title is, git takes the name for a branch', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 80 }), async (title) => {
      const name = workingBranchName(title, 'task-1')
      expect(name.length).toBeLessThanOrEqual(60)
      expect(endedWell(await testGit({ args: ['check-ref-format', '--branch', name] }))).toBe(true)
    }),
    { numRuns: 40 },
  )
})

test('a mirror stays under its folder, and no two addresses share one', () => {
  const path = mirrorPath('http://host/a/b.git', { owner: '../..', name: '.git', id: '' })
  expect(path).toMatch(/^owner\/git-[0-9a-f]{12}\.git$/)
  expect(mirrorPath('http://one/a/b.git', { owner: 'a', name: 'b', id: '' })).not.toBe(
    mirrorPath('http://two/a/b.git', { owner: 'a', name: 'b', id: '' }),
  )
})

test('a repository that was made again under the name of one that is gone has a mirror of its own', () => {
  const [gone, made] = ['7', '8'].map((id) =>
    mirrorPath('http://host/a/b.git', { owner: 'a', name: 'b', id }),
  )
  expect(made).toMatch(/^a\/b-8-[0-9a-f]{12}\.git$/)
  expect(made).not.toBe(gone)
})

test('a mirror is used by the project of its repository alone, and one without a number by projects without', () => {
  const named = { owner: 'a', name: 'b' }
  const path = (id: string) => mirrorPath('http://host/a/b.git', { ...named, id })
  const uses = (id: string) => ['', '7', '8'].filter((of) => isMirrorOf(path(of), { ...named, id }))
  expect(['', '7', '8'].map(uses)).toEqual([[''], ['7'], ['8']])
})

test('only plain ids name a folder', () => {
  expect(isTaskFolderName('0199c6c2-1111-7000-8000-000000000001')).toBe(true)
  for (const id of ['', '.', '..', 'a/b', '-rf', 'a'.repeat(65), 'a\0'])
    expect(isTaskFolderName(id)).toBe(false)
})
