// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFrameBatcher } from './frameBatcher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what comes after a pause is handed on at once', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrameBatcher(flush)
  frames.request()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(200)
  frames.request()
  expect(flush).toHaveBeenCalledTimes(2)
})

test('what comes in a rush is handed on once a frame', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrameBatcher(flush)
  for (let count = 0; count < 100; count += 1) frames.request()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersToNextFrame()
  expect(flush).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(200)
  expect(flush).toHaveBeenCalledTimes(2)
})

test('a page that draws no frames is told all the same', () => {
  vi.stubGlobal('requestAnimationFrame', () => 1)
  const flush = vi.fn<() => void>()
  const frames = createFrameBatcher(flush)
  frames.request()
  frames.request()
  vi.advanceTimersByTime(100)
  expect(flush).toHaveBeenCalledTimes(2)
  vi.unstubAllGlobals()
})

test('what is asked for while it is handed on waits for the next frame', () => {
  const flush = vi.fn<() => void>(() => frames.request())
  const frames = createFrameBatcher(flush)
  frames.request()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersToNextFrame()
  expect(flush).toHaveBeenCalledTimes(2)
})

test('nothing is handed on once it is stopped', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrameBatcher(flush)
  frames.request()
  frames.request()
  frames.stop()
  vi.advanceTimersByTime(200)
  expect(flush).toHaveBeenCalledTimes(1)
})
