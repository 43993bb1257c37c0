/** Light, dark, or as the system has it. `public/theme.js` does the same before the first paint. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'theme'
/** Told on the window when another theme is chosen. */
export const themeChosen = 'flightdeck:theme'

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(key)
    return themes.find((theme) => theme === kept) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Shows a theme and remembers it; `system` is remembered as nothing. */
export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, theme)
  } catch {
    // Then it lasts as long as the page does.
  }
  show(theme)
  window.dispatchEvent(new Event(themeChosen))
}

/** Follows the system while nothing else is chosen, and what is chosen in another tab. Returns how to stop. */
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

/** The theme that is chosen, wherever it is: in the settings, from the palette, in another tab. */
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
