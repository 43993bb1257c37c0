import { expect, test } from 'vitest'
import { stopping } from './control.ts'

test('finding 10: a deletion ends a run but not its push; a stop of the server afterwards ends that as well', () => {
  const stop = stopping()
  stop.stop('deleted')
  expect([stop.signal.aborted, stop.pushSignal.aborted]).toEqual([true, false])
  stop.stop('stopping')
  expect(stop.pushSignal.aborted).toBe(true)
  expect(stop.reason()).toBe('deleted')
})
