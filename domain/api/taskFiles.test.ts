import { expect, test } from 'vitest'
import { isRepositoryPath } from './taskFiles.ts'

test.each(['', 'a', 'a/b c/ü', 'new\nline', '...', '.gitignore', 'src/.github/x', '-rf', '*'])(
  '%j is a path in a repository',
  (path) => expect(isRepositoryPath(path)).toBe(true),
)

test.each([
  '/',
  '/etc/passwd',
  'a/',
  'a//b',
  '.',
  '..',
  'a/../b',
  './a',
  '.git',
  '.git/config',
  'sub/.GIT/x',
])('%j is none', (path) => expect(isRepositoryPath(path)).toBe(false))
