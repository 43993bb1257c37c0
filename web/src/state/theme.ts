/** Applies the light, dark or system theme. Before the first paint, `public/theme.js` applies it instead. */
import { useSyncExternalStore } from 'react'
import { tryOr } from './tryOr.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'theme'
/** The window event for a theme change. */
const themeChosen = 'flightdeck:theme'

function chosenTheme(): Theme {
  const stored = tryOr(() => localStorage.getItem(key), null)
  return themes.find((theme) => theme === stored) ?? 'system'
}

/** Applies and stores a theme; for `system` the stored value is removed. If nothing can be stored, the page follows the system at its next change. */
export function chooseTheme(theme: Theme): void {
  tryOr(
    () => (theme === 'system' ? localStorage.removeItem(key) : localStorage.setItem(key, theme)),
    undefined,
  )
  show(theme)
  window.dispatchEvent(new Event(themeChosen))
}

/** Keeps the shown theme current: it follows choices in other tabs and, while no theme is chosen, the system's theme. */
export function followSystemTheme(): void {
  const follow = () => show(chosenTheme())
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow)
  window.addEventListener('storage', ({ key: changed }) => {
    if (changed === key || changed === null) follow()
  })
}

function show(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'
}

/** The chosen theme, kept up to date wherever it is changed: in the settings, the palette or another tab. */
export function useChosenTheme(): Theme {
  return useSyncExternalStore(subscribe, chosenTheme)
}

function subscribe(changed: () => void): () => void {
  window.addEventListener(themeChosen, changed)
  window.addEventListener('storage', changed)
  return () => {
    window.removeEventListener(themeChosen, changed)
    window.removeEventListener('storage', changed)
  }
}
