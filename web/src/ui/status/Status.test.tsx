// @vitest-environment jsdom
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanup, render } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { shownStatusOf, statusOf } from '../../features/tasks/taskStatus.ts'
import { Status } from './Status.tsx'

afterEach(cleanup)

const tokens = readFileSync(join(import.meta.dirname, '../../styles/tokens.css'), 'utf8')

/** The hue of a colour such as `#b3261e`, in degrees. */
function hueOf(value: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(value.slice(at, at + 2), 16))
  const degrees = Math.atan2(Math.sqrt(3) * (green - blue), 2 * red - green - blue) * (180 / Math.PI)
  return (degrees + 360) % 360
}
/** The values of a colour in the light and in the dark theme. */
const valuesOf = (name: string) =>
  [...tokens.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map(([, value = '']) => value)

// Holds contract 4.1b.
test.each([
  ['pending', 'Pending', 'yellow', 30, 60],
  ['running', 'Running', 'blue', 200, 240],
  ['completed', 'Completed', 'green', 120, 160],
  ['failed', 'Failed', 'red', 0, 20],
  ['damaged', 'Record damaged', 'red', 0, 20],
  ['queued', 'Queued', 'neutral', 0, 360],
  ['cancelled', 'Cancelled', 'neutral', 0, 360],
] as const)('a task that is %s says %s, and is %s', (status, word, colour, from, to) => {
  const shown = render(<Status status={status} />).container.firstElementChild
  expect(shown?.textContent).toBe(word)
  const [name = ''] = /(?<= text-)(warn|run|ok|bad|muted)\b/.exec(shown?.className ?? '') ?? []
  expect(name === 'muted').toBe(colour === 'neutral')
  const hues = valuesOf(name).map(hueOf)
  expect(hues).toHaveLength(2)
  for (const hue of hues) {
    expect(hue).toBeGreaterThanOrEqual(from)
    expect(hue).toBeLessThanOrEqual(to)
  }
})

// Holds contract 4.2b.
test('a status that nobody knows counts as pending, the others as themselves', () => {
  const known = ['running', 'completed', 'failed', 'cancelled', 'queued', 'pending']
  expect(known.map(statusOf)).toEqual(known)
  for (const other of ['paused', '', 'RUNNING', 'constructor']) expect(statusOf(other)).toBe('pending')
})

test('a task with a status of a newer server is shown as pending', () => {
  const task = { status: JSON.parse('"paused"'), waitingFor: null }
  expect(render(<Status status={shownStatusOf(task)} />).container.textContent).toBe('Pending')
})
