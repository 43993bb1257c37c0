/** Where tests keep their temporary files. */
import { accessSync, constants } from 'node:fs'
import { expect, test } from 'vitest'
import { scratchRoot } from '../../scripts/scratch.js'

test('is where the shell says, else a folder that can be written', () => {
  expect(scratchRoot({ TMPDIR: '/somewhere' })).toBe('/somewhere')
  accessSync(scratchRoot({}), constants.W_OK)
})
