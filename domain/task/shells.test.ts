import { expect, test } from 'vitest'
import { TerminalSize } from '../api/shell.schema.ts'
import { allowedSize } from './shells.ts'

test('a screen of any size has a terminal that can be asked for', () => {
  const seen = { rows: 60, columns: 212 }
  expect(allowedSize(seen)).toEqual(seen)
  for (const size of [
    { rows: 1, columns: 1 },
    { rows: 900, columns: 682 },
  ])
    expect(TerminalSize.safeParse(allowedSize(size)).success).toBe(true)
})
