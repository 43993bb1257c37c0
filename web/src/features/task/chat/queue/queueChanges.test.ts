import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { messageId } from '../../../../../../tests/domain/ids.ts'
import { messageDocumentId, type MessageDocument } from '#domain/views/chat.ts'
import { messageOf } from '../../../../../../tests/client/samples.ts'
import { moved, remainingChanges, withChanges, type PendingChange, type QueueChange } from './queueChanges.ts'

function waiting(n: number): MessageDocument {
  const {
    project: _project,
    owner: _owner,
    images: _images,
    attachments: _attachments,
    ...shown
  } = messageOf(n)
  const id = messageDocumentId(shown.task, shown.id)
  return { ...shown, id, messageId: shown.id, images: [], order: String(n), status: 'queued' }
}
const queue = [waiting(1), waiting(2), waiting(3)]
const id = (n: number) => messageId(n)
const pending = (change: QueueChange, at: string | null = null): PendingChange => ({ id: 'c', change, at })
const after = (...changes: readonly QueueChange[]) =>
  withChanges(
    queue,
    changes.map((change) => pending(change)),
  )
const words = (...changes: readonly QueueChange[]) => after(...changes).map(({ message }) => message)

describe('what was done to the queue shows at once', () => {
  test('a message that was written anew has its new words', () =>
    expect(words({ kind: 'edited', messageId: id(2), text: 'other' })).toEqual([
      'message 1',
      'other',
      'message 3',
    ]))

  test('a message that was withdrawn is gone', () =>
    expect(words({ kind: 'withdrawn', messageId: id(2) })).toEqual(['message 1', 'message 3']))

  test('a message that is told to the agent says so', () =>
    expect(after({ kind: 'steered', messageId: id(2) }).map(({ isBeingSteered }) => isBeingSteered)).toEqual([
      false,
      true,
      false,
    ]))

  test('messages stand in the order they were put in; what came since is last', () =>
    expect(words({ kind: 'reordered', messageIds: [id(2), id(1)] })).toEqual([
      'message 2',
      'message 1',
      'message 3',
    ]))

  test('what was done later counts', () =>
    expect(
      words(
        { kind: 'edited', messageId: id(2), text: 'other' },
        { kind: 'reordered', messageIds: [id(3), id(2), id(1)] },
        { kind: 'withdrawn', messageId: id(3) },
      ),
    ).toEqual(['other', 'message 1']))
})

describe('a change', () => {
  const edited: QueueChange = { kind: 'edited', messageId: id(1), text: 'x' }
  test.each([
    ['is on its way', null, '50', 1],
    ['was answered and is not folded yet', '60', '50', 1],
    ['was answered before anything was folded', '60', null, 1],
    ['is folded', '60', '60', 0],
    ['was passed by the fold', '60', '70', 0],
  ] as const)('that %s stays or goes', (_, at, seen, left) =>
    expect(remainingChanges([pending(edited, at)], seen, () => true)).toHaveLength(left),
  )

  test('of a message that is told to a turn stays for as long as the message waits', () => {
    const steered = [pending({ kind: 'steered', messageId: id(1) }, '60')]
    expect(remainingChanges(steered, '70', () => true)).toBe(steered)
    expect(remainingChanges(steered, '70', () => false)).toEqual([])
  })
})

test('moving keeps every message, and puts the one where it was asked to be or at the nearest end', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.integer({ min: -3, max: 12 }),
      (ids, chosen, to) => {
        const one = ids[chosen % ids.length] ?? ''
        const next = moved(ids, one, to)
        expect(next.toSorted()).toEqual(ids.toSorted())
        expect(next.indexOf(one)).toBe(Math.max(0, Math.min(ids.length - 1, to)))
        expect(next.filter((other) => other !== one)).toEqual(ids.filter((other) => other !== one))
      },
    ),
  )
})
