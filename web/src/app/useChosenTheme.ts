/** The theme that is chosen, wherever it is: in the settings, from the palette, in another tab. */
import { useSyncExternalStore } from 'react'
import { chosenTheme, themeChosen, type Theme } from './theme.ts'

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
