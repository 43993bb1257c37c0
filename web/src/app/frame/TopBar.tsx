/** The top bar of the signed-in pages: navigation, connection, account. */
import { Menu, Search } from 'lucide-react'
import { useState } from 'react'
import { Link, NavLink, useLocation } from 'react-router-dom'
import type { User } from '#domain/api/auth.schema.ts'
import { useActions } from '../../actions/ActionsContext.tsx'
import { shortcutOf } from '../../actions/Keys.tsx'
import { useLogout } from '../../features/auth/useLogout.ts'
import { useRunningCount } from '../../features/tasks/useRunningCount.ts'
import { Avatar } from '../../ui/text/Avatar.tsx'
import { brand, BrandMark } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { KeyCap } from '../../ui/text/KeyCap.tsx'
import { Sheet } from '../../ui/overlay/Dialog.tsx'
import { ConnectionPill } from './ConnectionState.tsx'
import { texts } from './texts.ts'

interface TopBarProps {
  readonly user: User
}

export function TopBar({ user }: TopBarProps) {
  const { pathname } = useLocation()
  // The menu belongs to the page on which it was opened, so following a link closes it.
  const [menuOn, setMenuOn] = useState<string | null>(null)
  const menuOpen = menuOn === pathname
  const logout = useLogout()
  return (
    <header className="flex h-12 flex-none items-center gap-1 border-b border-line bg-panel pr-1 pl-4 md:pr-4">
      <a
        href="#main"
        className="sr-only rounded-control bg-panel px-3 py-1 focus:not-sr-only focus:absolute focus:z-30"
      >
        {texts.skip}
      </a>
      <Link
        to="/dashboard"
        className="mr-4 inline-flex items-center gap-2 text-body font-semibold tracking-[-0.012em]"
      >
        <BrandMark />
        {brand}
      </Link>
      <nav aria-label={texts.nav.label} className="hidden items-center gap-0.5 md:flex">
        <Links />
      </nav>
      <span className="flex-1" />
      <Find />
      <ConnectionPill />
      <Link
        to="/settings"
        aria-label={`${displayName(user)}, ${texts.nav.settings}`}
        className="hidden h-7 max-w-60 items-center gap-2 rounded-control px-2 text-ui font-medium hover:bg-raised md:inline-flex"
      >
        <Avatar name={displayName(user)} src={user.avatar} />
        <span className="hidden truncate split:inline">{displayName(user)}</span>
      </Link>
      <span className="hidden md:contents">
        <Button kind="ghost" size="small" onClick={logout}>
          {texts.logout}
        </Button>
      </span>
      <span className="contents md:hidden">
        <IconButton
          icon={Menu}
          label={texts.nav.menu}
          aria-expanded={menuOpen}
          onClick={() => setMenuOn(pathname)}
        />
      </span>
      <MenuSheet user={user} open={menuOpen} onClose={() => setMenuOn(null)} />
    </header>
  )
}

interface MenuSheetProps extends TopBarProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** The navigation menu on a phone. */
function MenuSheet({ user, open, onClose }: MenuSheetProps) {
  const logout = useLogout()
  const { run } = useActions()
  return (
    <Sheet open={open} onClose={onClose} label={texts.nav.menu}>
      <nav aria-label={texts.nav.label} className="flex flex-col gap-1">
        <Links />
      </nav>
      <button
        type="button"
        onClick={() => {
          onClose()
          run('palette')
        }}
        className="mt-1 inline-flex h-11 items-center gap-2.5 rounded-control px-2.5 text-body font-medium text-muted hover:bg-raised hover:text-text"
      >
        <Search />
        {texts.find}
      </button>
      <div className="mt-auto flex items-center gap-2 border-t border-line-soft pt-3">
        <Link
          to="/settings"
          aria-label={`${displayName(user)}, ${texts.nav.settings}`}
          onClick={onClose}
          className="flex h-11 min-w-0 flex-1 items-center gap-2 rounded-control px-2.5 font-medium hover:bg-raised"
        >
          <Avatar name={displayName(user)} src={user.avatar} />
          <span className="min-w-0 truncate">{displayName(user)}</span>
        </Link>
        <Button kind="ghost" size="touch" onClick={logout}>
          {texts.logout}
        </Button>
      </div>
    </Sheet>
  )
}

/** A button that opens the palette. It looks like a field if there is room, otherwise it is an icon; on a phone it is in the menu. */
function Find() {
  const { run } = useActions()
  const keys = shortcutOf('palette')
  const open = () => void run('palette')
  return (
    <>
      <button
        type="button"
        aria-keyshortcuts={keys['aria-keyshortcuts']}
        onClick={open}
        className="mr-2 hidden h-7 w-62 items-center gap-2 rounded-control border border-line pr-1.25 pl-2 text-ui whitespace-nowrap text-muted transition-colors hover:border-control hover:bg-raised wide:inline-flex"
      >
        <Search className="size-3.5" />
        <span className="flex-1 text-left">{texts.find}</span>
        <span aria-hidden="true" className="inline-flex">
          <KeyCap>{keys.shortcut ?? ''}</KeyCap>
        </span>
      </button>
      <span className="hidden md:max-wide:inline-flex">
        <IconButton icon={Search} label={texts.find} size="small" onClick={open} {...keys} />
      </span>
    </>
  )
}

const pages = [
  { to: '/dashboard', name: texts.nav.dashboard },
  { to: '/projects', name: texts.nav.projects },
  { to: '/figures', name: texts.nav.figures },
  { to: '/settings', name: texts.nav.settings },
] as const

function Links() {
  const running = useRunningCount()
  return pages.map(({ to, name }) => (
    <NavLink
      key={to}
      to={to}
      className="inline-flex h-11 items-center gap-1.5 rounded-control px-2.5 text-body font-medium text-muted transition-colors hover:bg-raised hover:text-text aria-[current=page]:bg-raised aria-[current=page]:text-text md:h-7 md:text-ui"
    >
      {name}
      {to === '/dashboard' && running > 0 && (
        <span className="text-tiny font-medium text-run" aria-label={texts.running(running)}>
          {running}
        </span>
      )}
    </NavLink>
  ))
}

function displayName(user: User): string {
  return user.fullName || user.name
}
