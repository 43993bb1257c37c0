/** Keys that belong to an input method, with which Chinese, Japanese and Korean are written. */

/**
 * Whether the input method takes the key, as Enter to confirm what was composed. Safari sends that Enter only after the
 * composition has ended, and tells it by the key code 229 alone (WebKit bug 165004).
 */
export function isComposingKey(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  // oxlint-disable-next-line no-restricted-properties -- the one place that reads it
  return event.isComposing || event.keyCode === 229
}
