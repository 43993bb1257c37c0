/**
 * The page-view call: an event on the window, which an operator's analytics script may listen to. The product itself
 * sends it nowhere.
 */
export function tellPageView(path: string): void {
  window.dispatchEvent(new CustomEvent('flightdeck:pageview', { detail: { path } }))
}
