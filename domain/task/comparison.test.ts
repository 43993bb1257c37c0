/** The places in a comparison: which task gets one, and when it is free again. */
import { test } from 'vitest'
import { given } from '../../tests/domain/given.ts'
import { taskId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { AlternativeAdded, AlternativeRemoved } from './events.ts'
import { task } from './task.ts'

const title = 'Words'
const added = (n: number) => AlternativeAdded.of({ taskId: taskId(n) }, { title })
const removed = (n: number) => AlternativeRemoved.of({ taskId: taskId(n) })
const add = (n: number, deleted: readonly number[] = []) =>
  ({ type: 'AddAlternative', taskId: taskId(n), title, deleted: deleted.map(taskId) }) as const
const full = [...past.queued, added(2), added(3), added(4)]

test('the original and three alternatives fill a comparison', () => {
  given(task, past.queued, added(2), added(3))
    .when(add(4))
    .then([added(4)])
  given(task, full).when(add(5)).thenRefused('comparison_full')
})

test('an alternative that was deleted, or not created after all, takes no place', () => {
  given(task, full)
    .when(add(5, [3]))
    .then([added(5)])
  given(task, full, removed(3))
    .when(add(5))
    .then([added(5)])
})

test('one that has its place is given no second, and is not refused', () => {
  given(task, full).when(add(4)).thenNothing()
})

test('one that exists is noted however many there are, once', () => {
  const record = { type: 'RecordAlternative', taskId: taskId(5), title } as const
  given(task, full)
    .when(record)
    .then([added(5)])
  given(task, full, added(5)).when(record).thenNothing()
})

test('only an alternative can be removed, once', () => {
  const remove = { type: 'RemoveAlternative', taskId: taskId(4) } as const
  given(task, full)
    .when(remove)
    .then([removed(4)])
  given(task, full, removed(4)).when(remove).thenNothing()
})
