/**
 * Whether the key belongs to an input method, with which Chinese, Japanese and Korean are typed: Enter, for example, confirms a composition. Safari
 * sends that Enter only after the composition has ended, recognizable only by the key code 229 (WebKit bug 165004).
 */
export function isComposingKey(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  // oxlint-disable-next-line no-restricted-properties -- the one place that reads it
  return event.isComposing || event.keyCode === 229
}
