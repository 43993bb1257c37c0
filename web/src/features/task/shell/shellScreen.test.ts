// @vitest-environment jsdom
import type { ITerminalOptions } from '@xterm/xterm'
import { expect, test, vi } from 'vitest'

const opened = vi.hoisted(() => vi.fn<(options: ITerminalOptions) => void>())
// The emulator draws on a canvas, which jsdom lacks.
vi.mock('@xterm/xterm', () => ({
  Terminal: class {
    constructor(options: ITerminalOptions) {
      opened(options)
    }
    loadAddon(): void {}
    open(): void {}
    onData(): void {}
    attachCustomKeyEventHandler(): void {}
    dispose(): void {}
  },
}))

test('text stays readable on the background that a program sets', async () => {
  // Another test file may have loaded the screen with the real emulator.
  vi.resetModules()
  const { openShellScreen } = await import('./shellScreen.ts')
  const shell = openShellScreen(document.createElement('div'), { onInput: null, onLeave: () => undefined })
  expect(opened).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ minimumContrastRatio: 4.5 }))
  shell.close()
})
