/** Keys in the notation of the action list: `mod+shift+m` for keys pressed together, `g d` for keys pressed in turn. */

/** The part of a keyboard event that identifies the key. */
type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

export function isMac(platform: string = navigator.platform): boolean {
  return /^(Mac|iP)/.test(platform)
}

/** The notation for a pressed key. `mod` is Cmd on a Mac and Ctrl elsewhere; `other` is Ctrl on a Mac and the Meta key elsewhere. */
export function writtenKey(pressed: Pressed, mac: boolean): string {
  const key = pressed.key === ' ' ? 'space' : pressed.key.toLowerCase()
  const isSign = key.length === 1 && key === key.toUpperCase()
  return [
    ...((mac ? pressed.metaKey : pressed.ctrlKey) ? ['mod'] : []),
    ...((mac ? pressed.ctrlKey : pressed.metaKey) ? ['other'] : []),
    // Whether a character such as `?` needs Shift depends on the keyboard layout, so only the character counts.
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

/** The key caps of keys pressed together: `['Ctrl', 'Shift', 'M']`. */
export function keyCaps(keys: string, mac: boolean): readonly string[] {
  return keys.split('+').map((part) => {
    if (part === 'mod') return mac ? '⌘' : 'Ctrl'
    if (part === 'shift') return mac ? '⇧' : 'Shift'
    if (part === 'alt') return mac ? '⌥' : 'Alt'
    return caps[part] ?? (part.length === 1 ? part.toUpperCase() : part)
  })
}

/** The key presses of a shortcut, in order: `g d` gives `['g', 'd']`. */
export function strokesOf(keys: string): readonly string[] {
  return keys.split(' ')
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

/** The value of `aria-keyshortcuts`: `Control+K`; `undefined` for a sequence of keys, because the attribute cannot express one. */
export function ariaKeys(keys: string, mac: boolean): string | undefined {
  if (strokesOf(keys).length > 1) return undefined
  return keys
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

/** Whether the target takes typed characters, as text fields and selects do, so that single keys on it are not shortcuts. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.matches('textarea, select')) return true
  return (
    target.matches('input') && !target.matches('[type=checkbox], [type=radio], [type=button], [type=submit]')
  )
}
