// @vitest-environment jsdom
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { shortcutOf } from './Keys.tsx'
import { keyCaps, writtenKey } from './keys.ts'
import { createActionRegistry } from './registry.ts'

const plain = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false }

function press(init: KeyboardEventInit & { readonly key: string }, target: HTMLElement = document.body) {
  if (target !== document.body) document.body.append(target)
  const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init })
  target.dispatchEvent(event)
  return event
}

function listening() {
  const registry = createActionRegistry(false)
  document.body.addEventListener('keydown', registry.onKeyDown)
  onTestFinished(() => document.body.removeEventListener('keydown', registry.onKeyDown))
  return registry
}

describe('a key', () => {
  test('is written with what is held down beside it', () => {
    expect(writtenKey({ ...plain, key: 'M', ctrlKey: true, shiftKey: true }, false)).toBe('mod+shift+m')
    expect(writtenKey({ ...plain, key: 'k', metaKey: true }, true)).toBe('mod+k')
    expect(writtenKey({ ...plain, key: 'k', ctrlKey: true }, true)).toBe('other+k')
  })

  test('that is a sign is that sign, with Shift or without', () => {
    expect(writtenKey({ ...plain, key: '?', shiftKey: true }, false)).toBe('?')
  })

  test('has the caps of the keyboard at hand', () => {
    expect(keyCaps('mod+shift+m', false)).toEqual(['Ctrl', 'Shift', 'M'])
    expect(keyCaps('mod+k', true)).toEqual(['⌘', 'K'])
  })
})

describe('an action', () => {
  test('is done by its key while somebody can do it', () => {
    const registry = listening()
    const run = vi.fn<() => void>()
    const takeBack = registry.offer('palette', run)
    expect(press({ key: 'k', ctrlKey: true }).defaultPrevented).toBe(true)
    takeBack()
    expect(press({ key: 'k', ctrlKey: true }).defaultPrevented).toBe(false)
    expect(run).toHaveBeenCalledOnce()
  })

  test('is done by the latest who said so', () => {
    const registry = listening()
    const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()]
    registry.offer('palette', first)
    const takeBack = registry.offer('palette', second)
    registry.run('palette')
    takeBack()
    registry.run('palette')
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1])
  })

  test('of a single key is not done while text is typed', () => {
    const registry = listening()
    const run = vi.fn<() => void>()
    registry.offer('shortcuts', run)
    press({ key: '?' }, document.createElement('textarea'))
    expect(run).not.toHaveBeenCalled()
    press({ key: '?' }, document.createElement('button'))
    expect(run).toHaveBeenCalledOnce()
  })

  test('of one key after the other is done when the second comes soon enough, and by nothing else', () => {
    const registry = listening()
    const [projects, fresh] = [vi.fn<() => void>(), vi.fn<() => void>()]
    registry.offer('goProjects', projects)
    registry.offer('newTask', fresh)
    const at = (key: string, timeStamp: number, target?: HTMLElement) => {
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      Object.defineProperty(event, 'timeStamp', { value: timeStamp })
      if (target !== undefined) document.body.append(target)
      ;(target ?? document.body).dispatchEvent(event)
    }
    at('g', 0)
    at('p', 1_500)
    expect(projects).toHaveBeenCalledTimes(1)
    at('g', 2_000)
    at('p', 3_501)
    at('p', 3_600)
    at('g', 4_000, document.createElement('textarea'))
    at('p', 4_100)
    expect(projects).toHaveBeenCalledTimes(1)
    // A third key in between is handled as a key of its own.
    at('g', 5_000)
    at('c', 5_100)
    at('p', 5_200)
    expect([projects.mock.calls.length, fresh.mock.calls.length]).toEqual([1, 1])
  })

  test('with Shift or Alt is not done either where that writes another character', () => {
    const registry = listening()
    const run = vi.fn<() => void>()
    registry.offer('newTask', run)
    press({ key: 'C', shiftKey: true }, document.createElement('textarea'))
    press({ key: 'c', altKey: true }, document.createElement('textarea'))
    press({ key: 'C', shiftKey: true })
    expect(run).not.toHaveBeenCalled()
  })

  test('is not done by a key while a dialog lies over the page', () => {
    const registry = listening()
    const run = vi.fn<() => void>()
    registry.offer('newTask', run)
    const dialog = document.createElement('dialog')
    document.body.append(dialog)
    dialog.open = true
    press({ key: 'c' })
    expect(run).not.toHaveBeenCalled()
    dialog.remove()
    press({ key: 'c' })
    expect(run).toHaveBeenCalledOnce()
  })

  test('tells its key to the tooltip and to assistive technology, where that can say it', () => {
    expect(shortcutOf('palette', false)).toEqual({ shortcut: 'Ctrl K', 'aria-keyshortcuts': 'Control+K' })
    expect(shortcutOf('palette', true)).toEqual({ shortcut: '⌘ K', 'aria-keyshortcuts': 'Meta+K' })
    expect(shortcutOf('goProjects', false)).toEqual({ shortcut: 'G then P' })
    expect(shortcutOf('logout', false)).toEqual({})
  })

  test('that nobody can do is not offered', () => {
    const registry = listening()
    expect(registry.offered()).toEqual([])
    registry.offer('shortcuts', vi.fn<() => void>())
    const told = vi.fn<() => void>()
    registry.subscribe(told)
    expect(registry.offered()).toEqual(['shortcuts'])
    expect(registry.offered()).toBe(registry.offered())
    registry.offer('shortcuts', vi.fn<() => void>())
    expect(told).not.toHaveBeenCalled()
    registry.offer('newTask', vi.fn<() => void>())
    expect(told).toHaveBeenCalledOnce()
    expect(registry.run('palette')).toBe(false)
  })
})
