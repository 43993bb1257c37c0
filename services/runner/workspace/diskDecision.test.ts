import { describe, expect, test } from 'vitest'
import { floorsOf, isFalling, isOutOfHand, isOver, mayBeOver, whoGrewMost } from './diskDecision.ts'

const floors = floorsOf(1_000)

describe('security H2: while the disk is nearly full', () => {
  test.each([
    ['above the floor nobody ends', 1_000, undefined, false],
    ['below the floor somebody ends', 999, undefined, true],
    ['what an ended run has left behind ends nobody else', 950, 960, false],
    ['once as much again is gone the next one ends', 850, 960, true],
  ])('%s', (_, free, settled, expected) => {
    expect(isFalling(free, floors, settled)).toBe(expected)
  })

  test.each([
    [
      'that which grew most since it was last counted',
      [
        { before: 900, now: 950 },
        { before: 10, now: 400 },
      ],
      1,
    ],
    [
      'one that was never counted, by all that it has',
      [
        { before: 900, now: 950 },
        { before: undefined, now: 60 },
      ],
      1,
    ],
    [
      'one that cannot be counted, where nobody else grew',
      [
        { before: 900, now: 900 },
        { before: 10, now: undefined },
      ],
      1,
    ],
    [
      'none, where something else fills the disk',
      [
        { before: 900, now: 905 },
        { before: 10, now: 10 },
      ],
      undefined,
    ],
    ['none, where none runs', [], undefined],
  ])('ends %s', (_, runs, expected) => {
    expect(whoGrewMost(runs, floors)).toBe(expected)
  })
})

test.each([
  ['below a quarter of the floor, and by more than a tenth since one is being ended', 140, 249, true],
  ['below a quarter of the floor, where it falls no more', 140, 141, false],
  ['by more than a tenth, and there is some room yet', 260, 900, false],
])('security H2: whether all runs end while free space falls %s', (_, free, from, expected) => {
  expect(isOutOfHand(free, floors, from)).toBe(expected)
})

test.each([
  ['has come to it', 5_000, 4_000, false],
  ['has gone beyond it', 5_001, 5_000, true],
  ['was over it before, and writes a home and little more', 900_000, 6_000, false],
  ['was over it before, and has grown', 2_000_000, 6_000, true],
])('security H2: whether a run is over its limit that %s', (_, size, first, expected) => {
  expect(isOver(size, first, 5_000)).toBe(expected)
})

test.each([
  ['less than any of them had left', 99, [900, 100], false],
  ['as much as one of them had left', 100, [900, 100], true],
  ['all that one may have, which was never counted', 1_000, [undefined], true],
  ['anything, where who runs is over the limit already', 5_000, [1_200], false],
  ['anything, where nobody runs', 5_000, [], false],
])(
  'security H2: files are counted again early once free space has fallen by %s',
  (_, fallen, sizes, expected) => {
    expect(mayBeOver(fallen, sizes, 1_000)).toBe(expected)
  },
)
