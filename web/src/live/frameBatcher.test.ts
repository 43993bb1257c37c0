// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFrames } from './frameBatcher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what comes after a pause is handed on at once', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrames(flush)
  frames.ask()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(200)
  frames.ask()
  expect(flush).toHaveBeenCalledTimes(2)
})

test('what comes in a rush is handed on once a frame', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrames(flush)
  for (let count = 0; count < 100; count += 1) frames.ask()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersToNextFrame()
  expect(flush).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(200)
  expect(flush).toHaveBeenCalledTimes(2)
})

test('a page that draws no frames is told all the same', () => {
  vi.stubGlobal('requestAnimationFrame', () => 1)
  const flush = vi.fn<() => void>()
  const frames = createFrames(flush)
  frames.ask()
  frames.ask()
  vi.advanceTimersByTime(100)
  expect(flush).toHaveBeenCalledTimes(2)
  vi.unstubAllGlobals()
})

test('what is asked for while it is handed on waits for the next frame', () => {
  const flush = vi.fn<() => void>(() => frames.ask())
  const frames = createFrames(flush)
  frames.ask()
  expect(flush).toHaveBeenCalledTimes(1)
  vi.advanceTimersToNextFrame()
  expect(flush).toHaveBeenCalledTimes(2)
})

test('nothing is handed on once it is stopped', () => {
  const flush = vi.fn<() => void>()
  const frames = createFrames(flush)
  frames.ask()
  frames.ask()
  frames.stop()
  vi.advanceTimersByTime(200)
  expect(flush).toHaveBeenCalledTimes(1)
})
