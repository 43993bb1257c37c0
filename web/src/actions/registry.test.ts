// @vitest-environment jsdom
import { describe, expect, onTestFinished, test, vi } from 'vitest'
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

  test('that nobody can do is not offered', () => {
    const registry = listening()
    expect(registry.offered()).toEqual([])
    registry.offer('shortcuts', vi.fn<() => void>())
    expect(registry.offered()).toEqual(['shortcuts'])
    expect(registry.run('palette')).toBe(false)
  })
})
