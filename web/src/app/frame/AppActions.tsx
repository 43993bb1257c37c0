/** The actions of every signed-in page, and the two overlays that list actions: the palette and the list of shortcuts. */
import { useEffect, useState, type ComponentType } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { useAction } from '../../actions/ActionsContext.tsx'
import { useLogout } from '../../features/auth/useLogout.ts'
import { newTaskState } from '../../features/dashboard/newTaskState.ts'
import { chooseTheme } from '../../state/theme.ts'
import { inTime } from '../../ui/inTime.ts'

type Overlay = 'palette' | 'shortcuts'
type OverlayPart = ComponentType<{ readonly onClose: () => void }>

const loads: Readonly<Record<Overlay, () => Promise<OverlayPart>>> = {
  palette: async () => (await import('../../features/palette/Palette.tsx')).Palette,
  shortcuts: async () => (await import('../../features/palette/ShortcutSheet.tsx')).ShortcutSheet,
}
/** How long after the page's first render the overlays are preloaded, in milliseconds, so that they do not delay the page. */
const preloadDelayMs = 2_000

export function AppActions() {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const logout = useLogout()
  // An overlay belongs to the page on which it was opened: leaving that page closes it.
  const [opened, setOpened] = useState<{ readonly Part: OverlayPart; readonly on: string } | null>(null)

  // Preloads the chunks, since a key press should open an overlay at once. A chunk that fails to load is requested again at the key press.
  useEffect(() => {
    const timer = setTimeout(() => {
      // Some browsers remember a failed import and never try it again.
      if (!navigator.onLine) return
      for (const load of Object.values(loads)) load().catch(() => undefined)
    }, preloadDelayMs)
    return () => clearTimeout(timer)
  }, [])
  const open = async (overlay: Overlay) => {
    try {
      setOpened({ Part: await inTime(loads[overlay]), on: pathname })
    } catch (fault) {
      reportError(fault)
    }
  }

  useAction('palette', () => void open('palette'))
  useAction('shortcuts', () => void open('shortcuts'))
  useAction('newTask', () => void navigate('/dashboard', { state: newTaskState() }))
  useAction('goDashboard', () => void navigate('/dashboard'))
  useAction('goProjects', () => void navigate('/projects'))
  useAction('newProject', () => void navigate('/projects/new'))
  useAction('goFigures', () => void navigate('/figures'))
  useAction('goSettings', () => void navigate('/settings'))
  useAction('themeLight', () => chooseTheme('light'))
  useAction('themeDark', () => chooseTheme('dark'))
  useAction('themeSystem', () => chooseTheme('system'))
  useAction('logout', logout)

  return opened !== null && opened.on === pathname && <opened.Part onClose={() => setOpened(null)} />
}
