import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommandBlock } from './commandBlocks.ts'
import { commandOf, linesOf, visibleRows } from './visibleRows.ts'

const command = (id: number, until: number | null): CommandBlock => ({
  id,
  until,
  executionId: 'e1',
  at: '2026-11-21T10:00:00.000Z',
  endedAt: null,
  exitCode: null,
})
const commands = [command(12, 15), command(15, 16), command(17, null)]

test('a command has the lines behind it up to its end', () => {
  expect(commands.map((each) => linesOf(each, 10, 12))).toEqual([2, 0, 4])
  expect([11, 12, 14, 15, 16, 17, 21].map((id) => commandOf(commands, id)?.id)).toEqual([
    undefined,
    12,
    12,
    15,
    undefined,
    17,
    17,
  ])
})

test('what is folded has no rows, and its lines are found at their command', () => {
  const rows = visibleRows(10, 12, commands, new Set([12, 17]))
  expect(Array.from({ length: rows.count }, (_, row) => rows.lineAt(row) + 10)).toEqual([
    10, 11, 12, 15, 16, 17,
  ])
  expect([11, 12, 13, 14, 15, 20].map((id) => rows.rowOf(id - 10))).toEqual([1, 2, 2, 2, 3, 5])
})

test('each row shows a line of its own, whatever is folded', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 4 }), { maxLength: 8 }), fc.array(fc.boolean()), (sizes, folds) => {
      let id = 0
      const some = sizes.map((size) => {
        const begins = id
        id += size + 1
        return command(begins, id)
      })
      const folded = new Set(some.filter((_, index) => folds[index]).map((each) => each.id))
      const rows = visibleRows(0, id, some, folded)
      const shown = Array.from({ length: rows.count }, (_, row) => rows.lineAt(row))
      const isFolded = (line: number) =>
        some.some((each) => folded.has(each.id) && line > each.id && line < (each.until ?? 0))
      expect(shown).toEqual(Array.from({ length: id }, (_, line) => line).filter((line) => !isFolded(line)))
      expect(shown.map((line) => rows.rowOf(line))).toEqual(shown.map((_, row) => row))
    }),
  )
})
