import { expect, test } from 'vitest'
import { bubblewrapArguments } from './arguments.ts'

const made = bubblewrapArguments({
  system: { readOnly: ['/usr'], symlinks: [], emptyFolders: ['/usr/local/etc'], emptyFiles: [] },
  identity: { kind: 'host_user', uid: 27_200, gid: 27_200 },
  readOnly: [],
  writable: [],
  files: [],
  tmpBytes: 4_096,
})

// Holds findings 1.2.
test('finding 1: what becomes another user may do that and nothing else, also not read the files of others', () => {
  const added = made.flatMap((argument, index) => (argument === '--cap-add' ? [made[index + 1]] : []))
  expect(made.join(' ')).toContain('--cap-drop ALL')
  expect(added).toEqual(['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'])
})

// Holds findings 1.64.
test('finding low: what an operator set for the whole machine, tokens of registries among it, is not shown', () => {
  const words = made.join(' ')
  expect(words).toMatch(
    /--ro-bind-try \/usr \/usr .*--tmpfs \/usr\/local\/etc --remount-ro \/usr\/local\/etc/,
  )
})
