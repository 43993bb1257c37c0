/** Keys as the list of actions writes them: `mod+shift+m`, and `g d` for one after the other. */

/** What of a keyboard event says which key it is. */
export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

export function isMac(platform: string = navigator.platform): boolean {
  return /^(Mac|iP)/.test(platform)
}

/** How the list writes the key that was pressed; `mod` is Cmd on a Mac and Ctrl elsewhere. */
export function writtenKey(pressed: Pressed, mac: boolean): string {
  const key = pressed.key === ' ' ? 'space' : pressed.key.toLowerCase()
  const isSign = key.length === 1 && key === key.toUpperCase()
  return [
    ...((mac ? pressed.metaKey : pressed.ctrlKey) ? ['mod'] : []),
    ...((mac ? pressed.ctrlKey : pressed.metaKey) ? ['other'] : []),
    // A sign such as `?` has Shift or not by the layout of the keyboard: it is the sign that counts.
    ...(pressed.shiftKey && !isSign ? ['shift'] : []),
    ...(pressed.altKey ? ['alt'] : []),
    key,
  ].join('+')
}

const caps: Readonly<Record<string, string>> = {
  escape: 'Esc',
  enter: '↵',
  arrowup: '↑',
  arrowdown: '↓',
  space: 'Space',
}

/** The caps of keys that are pressed together, as a keyboard has them: `['Ctrl', 'Shift', 'M']`. */
export function keyCaps(written: string, mac: boolean): readonly string[] {
  return written.split('+').map((part) => {
    if (part === 'mod') return mac ? '⌘' : 'Ctrl'
    if (part === 'shift') return mac ? '⇧' : 'Shift'
    if (part === 'alt') return mac ? '⌥' : 'Alt'
    return caps[part] ?? (part.length === 1 ? part.toUpperCase() : part)
  })
}

/** What is pressed one after the other: `['g', 'd']`; most are one. */
export function strokesOf(written: string): readonly string[] {
  return written.split(' ')
}

const ariaNames: Readonly<Record<string, string>> = {
  shift: 'Shift',
  alt: 'Alt',
  escape: 'Escape',
  enter: 'Enter',
  arrowup: 'ArrowUp',
  arrowdown: 'ArrowDown',
  space: 'Space',
}

/** The value of `aria-keyshortcuts`: `Control+K`; `undefined` for keys one after the other, which it cannot say. */
export function ariaKeys(written: string, mac: boolean): string | undefined {
  if (strokesOf(written).length > 1) return undefined
  return written
    .split('+')
    .map((part) =>
      part === 'mod'
        ? mac
          ? 'Meta'
          : 'Control'
        : (ariaNames[part] ?? (part.length === 1 ? part.toUpperCase() : part)),
    )
    .join('+')
}

/** Whether what is typed there is text, so that a single key is no shortcut. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true
  return (
    target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'submit'].includes(target.type)
  )
}
