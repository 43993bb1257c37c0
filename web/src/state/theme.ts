/** The light, dark or system theme. `public/theme.js` does the same before the first paint. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'theme'
/** The window event for a theme change. */
export const themeChosen = 'flightdeck:theme'

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(key)
    return themes.find((theme) => theme === kept) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Applies and stores a theme; for `system` the stored value is removed. */
export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, theme)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  show(theme)
  window.dispatchEvent(new Event(themeChosen))
}

/** Follows the system's theme while none is chosen, and choices in other tabs. Returns a function that stops it. */
export function followSystemTheme(): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => show(chosenTheme())
  const onStorage = ({ key: changed }: StorageEvent) => {
    if (changed === key || changed === null) follow()
  }
  system.addEventListener('change', follow)
  window.addEventListener('storage', onStorage)
  return () => {
    system.removeEventListener('change', follow)
    window.removeEventListener('storage', onStorage)
  }
}

function show(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'
}

/** The chosen theme, wherever it is changed: in the settings, the palette or another tab. */
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
