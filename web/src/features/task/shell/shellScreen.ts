/** The screen of a shell: a terminal emulator that shows output and reports what a person types. */
import { FitAddon } from '@xterm/addon-fit'
import { Terminal, type ITheme } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import { allowedSize } from '#domain/task/shells.ts'

export interface ShellScreen {
  /** Shows the output of one shell, oldest first. Writes only what is new; starts over when the output is of another shell or ends earlier. */
  show(output: readonly TerminalOutput[]): void
  /** Fits a live screen to its element. Returns the screen's size. */
  fit(): { readonly rows: number; readonly columns: number }
  focus(): void
  close(): void
}

interface ShellKeys {
  /** Called with what a person types or pastes; `null` for a read-only screen. */
  readonly onInput: ((text: string) => void) | null
  /** Called when a person presses Ctrl and the backquote key to leave the shell. */
  readonly onLeave: () => void
}

const scrollback = 5_000
/** Whether the text is a report by the emulator itself: cursor position, terminal type, settings or colours. */
const isAnswer = (text: string): boolean =>
  text.startsWith('\u001b') && /^(\[[?>]?[\d;]*(c|n|R|\$y)|[P\]])/.test(text.slice(1))

export function openShellScreen(element: HTMLElement, { onInput, onLeave }: ShellKeys): ShellScreen {
  const isReplay = onInput === null
  const terminal = new Terminal({
    // The emulator measures characters on a canvas, which does not resolve CSS variables.
    fontFamily: getComputedStyle(element).getPropertyValue('--font-mono') || 'monospace',
    fontSize: 12.5,
    lineHeight: 1.3,
    scrollback,
    screenReaderMode: true,
    disableStdin: isReplay,
    theme: themeOf(element),
    // Programs that set a background count on other text colours than those of the page.
    minimumContrastRatio: 4.5,
  })
  const fitting = new FitAddon()
  terminal.loadAddon(fitting)
  terminal.open(element)
  let version = -1
  let shellId = ''
  // How many pieces of old output are being written. The emulator also answers queries in them, and those answers must not reach the program that
  // runs now.
  let pendingReplays = 0
  const themes = new MutationObserver(() => (terminal.options.theme = themeOf(element)))
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  terminal.onData((text) => {
    if (pendingReplays === 0 || !isAnswer(text)) onInput?.(text)
  })
  terminal.attachCustomKeyEventHandler((event) => {
    if (!event.ctrlKey || event.type !== 'keydown') return true
    if (event.key === '`') {
      event.preventDefault()
      onLeave()
      return false
    }
    if (event.shiftKey && event.code === 'KeyC') {
      event.preventDefault()
      // Pages without TLS have no clipboard.
      if (terminal.hasSelection()) void navigator.clipboard?.writeText(terminal.getSelection())
      return false
    }
    // Ctrl, Shift and V are left to the browser, which pastes.
    return !(event.shiftKey && event.code === 'KeyV')
  })
  return {
    show(output) {
      const last = output.at(-1)
      const isOther = last === undefined || last.executionId !== shellId || last.version < version
      if (isOther) {
        terminal.reset()
        version = -1
        shellId = last?.executionId ?? ''
      }
      for (const piece of output) {
        if (piece.version <= version) continue
        version = piece.version
        if (isReplay && piece.shell) terminal.resize(piece.shell.columns, piece.shell.rows)
        if (isOther) pendingReplays += 1
        terminal.write(piece.content, isOther ? () => (pendingReplays -= 1) : undefined)
      }
    },
    fit() {
      if (!isReplay) fitting.fit()
      const size = allowedSize({ rows: terminal.rows, columns: terminal.cols })
      terminal.resize(size.columns, size.rows)
      return size
    },
    focus: () => terminal.focus(),
    close() {
      themes.disconnect()
      terminal.dispose()
    },
  }
}

/** The page's colours as a theme of the emulator. */
function themeOf(element: HTMLElement): ITheme {
  const style = getComputedStyle(element)
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const colours = {
    red: of('bad'),
    green: of('ok'),
    yellow: of('warn'),
    blue: of('run'),
    magenta: of('ansi-magenta'),
    cyan: of('ansi-cyan'),
  }
  return {
    background: of('panel'),
    foreground: of('text'),
    cursor: of('text'),
    cursorAccent: of('panel'),
    selectionBackground: of('select'),
    black: of('text'),
    white: of('muted'),
    brightBlack: of('muted'),
    brightWhite: of('text'),
    ...colours,
    brightRed: colours.red,
    brightGreen: colours.green,
    brightYellow: colours.yellow,
    brightBlue: colours.blue,
    brightMagenta: colours.magenta,
    brightCyan: colours.cyan,
  }
}
