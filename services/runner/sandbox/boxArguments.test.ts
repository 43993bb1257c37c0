import { expect, test } from 'vitest'
import { boxArguments } from './boxArguments.ts'

test('finding 1: what becomes another user may do that and nothing else, also not read the files of others', () => {
  const made = boxArguments({
    system: { readOnly: [], symlinks: [] },
    identity: { kind: 'host_user', uid: 27_200, gid: 27_200 },
    readOnly: [],
    writable: [],
    files: [],
    tmpBytes: 4_096,
  })
  const added = made.flatMap((argument, index) => (argument === '--cap-add' ? [made[index + 1]] : []))
  expect(made.join(' ')).toContain('--cap-drop ALL')
  expect(added).toEqual(['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'])
})
