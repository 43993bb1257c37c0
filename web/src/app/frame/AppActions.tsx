/** What can be done on every page of the product, and the two overlays that tell of it: the palette and the sheet of shortcuts. */
import { useEffect, useState, type ComponentType } from 'react'
import { useDispatch } from 'react-redux'
import { useLocation, useNavigate } from 'react-router-dom'
import { useAction } from '../../actions/ActionsContext.tsx'
import { useLogout } from '../../features/auth/useLogout.ts'
import { notified } from '../../features/notifications/notifications.ts'
import { newTaskState } from '../../features/dashboard/newTaskLocation.ts'
import { texts } from '../texts.ts'
import { chooseTheme } from '../../state/theme.ts'

type Overlay = 'palette' | 'shortcuts'
type OverlayPart = ComponentType<{ readonly onClose: () => void }>

const loads: Readonly<Record<Overlay, () => Promise<OverlayPart>>> = {
  palette: async () => (await import('../../features/palette/Palette.tsx')).Palette,
  shortcuts: async () => (await import('../../features/palette/ShortcutSheet.tsx')).ShortcutSheet,
}
/** How long after the page they are asked for beforehand, in milliseconds: the page comes first. */
const beforehandMs = 2_000

export function AppActions() {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const logout = useLogout()
  // An overlay belongs to the page it was opened on: who goes elsewhere leaves it.
  const [shown, setShown] = useState<{ readonly Part: OverlayPart; readonly on: string } | null>(null)

  // A key is pressed for what comes at once; a chunk that does not come now is asked for again then.
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const load of Object.values(loads)) load().catch(() => undefined)
    }, beforehandMs)
    return () => clearTimeout(timer)
  }, [])
  const open = (overlay: Overlay) => async () => {
    const Part = await loads[overlay]().catch(() => null)
    if (Part === null) dispatch(notified('error', texts.chunkMissing, texts.chunkMissingWhy))
    else setShown({ Part, on: pathname })
  }

  useAction('palette', () => void open('palette')())
  useAction('shortcuts', () => void open('shortcuts')())
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

  return shown !== null && shown.on === pathname && <shown.Part onClose={() => setShown(null)} />
}
