/**
 * A menu button with the keys of the ARIA pattern: the arrow keys move, a letter jumps, Escape and Tab close. A dangerous
 * item comes last, after a line. The list is in the browser's top layer, so nothing can cut it off.
 */
import type { LucideIcon } from 'lucide-react'
import {
  Fragment,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react'
import { classes } from '../classes.ts'
import { useStable } from '../hooks.ts'
import { placeBeside } from './placeBeside.ts'

export interface MenuItem {
  readonly label: string
  readonly icon?: LucideIcon
  readonly onChoose: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

export type MenuButtonProps = Pick<
  ComponentProps<'button'>,
  'ref' | 'onClick' | 'onKeyDown' | 'aria-haspopup' | 'aria-expanded' | 'aria-controls'
>

interface MenuProps {
  readonly button: (props: MenuButtonProps) => ReactNode
  readonly items: readonly MenuItem[]
}

type End = 'first' | 'last'

export function Menu({ button, items }: MenuProps) {
  const id = useId()
  const anchor = useRef<HTMLButtonElement>(null)
  // Which item gets the focus when the menu opens; `null` while the menu is closed.
  const [opened, setOpened] = useState<End | null>(null)
  const close = () => {
    setOpened(null)
    anchor.current?.focus()
  }
  return (
    <>
      {button({
        ref: anchor,
        'aria-haspopup': 'menu',
        'aria-expanded': opened !== null,
        'aria-controls': opened === null ? undefined : id,
        onClick: () => setOpened(opened === null ? 'first' : null),
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setOpened(event.key === 'ArrowDown' ? 'first' : 'last')
        },
      })}
      {opened !== null && (
        <MenuList
          id={id}
          anchor={anchor}
          items={items}
          begins={opened}
          onClose={close}
          onLeave={() => setOpened(null)}
        />
      )}
    </>
  )
}

interface MenuListProps {
  readonly id: string
  readonly anchor: RefObject<HTMLButtonElement | null>
  readonly items: readonly MenuItem[]
  readonly begins: End
  /** Closes the menu and returns the focus to its button. */
  readonly onClose: () => void
  /** Closes the menu without focusing its button. */
  readonly onLeave: () => void
}

function MenuList({ id, anchor, items, begins, onClose, onLeave }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null)
  const leave = useStable(onLeave)

  useLayoutEffect(() => {
    const [menu, button] = [list.current, anchor.current]
    if (menu === null || button === null) return undefined
    menu.showPopover()
    const place = () => placeBeside(menu, button.getBoundingClientRect(), { align: 'end', gap: 4 })
    place()
    rows(menu)
      .at(begins === 'first' ? 0 : -1)
      ?.focus()
    const elsewhere = ({ target }: Event) => {
      if (target instanceof Node && !menu.contains(target) && !button.contains(target)) leave()
    }
    const closed = new AbortController()
    const first = { capture: true, signal: closed.signal }
    document.addEventListener('pointerdown', elsewhere, first)
    // The menu follows its button, which moves for example while an agent writes.
    document.addEventListener('scroll', place, first)
    window.addEventListener('resize', place, first)
    return () => closed.abort()
  }, [anchor, begins, leave])

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const all = rows(event.currentTarget)
    const at = all.findIndex((row) => row === document.activeElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') {
      // Only the menu closes, not the dialog or panel around it.
      event.stopPropagation()
      if (event.key === 'Escape') event.preventDefault()
      onClose()
    } else if (next !== undefined) {
      event.preventDefault()
      all.at(next % all.length)?.focus()
    } else if (event.key.length === 1 && /\S/.test(event.key)) {
      const letter = event.key.toLowerCase()
      const after = [...all.slice(at + 1), ...all.slice(0, at + 1)]
      after.find((row) => row.textContent.trim().toLowerCase().startsWith(letter))?.focus()
    }
  }

  return (
    <div
      ref={list}
      id={id}
      role="menu"
      popover="manual"
      tabIndex={-1}
      onKeyDown={onKeyDown}
      className="fixed inset-auto m-0 min-w-44 animate-appear rounded-panel bg-panel p-1 text-text shadow-float outline-none"
    >
      {items.map((item) => (
        <MenuRow
          key={item.label}
          item={item}
          onChoose={() => {
            onClose()
            item.onChoose()
          }}
        />
      ))}
    </div>
  )
}

function MenuRow({ item, onChoose }: { readonly item: MenuItem; readonly onChoose: () => void }) {
  const Icon = item.icon
  return (
    <Fragment>
      {item.danger && <hr className="m-1 border-line-soft first:hidden" />}
      <button
        type="button"
        role="menuitem"
        tabIndex={-1}
        aria-disabled={item.disabled || undefined}
        onClick={item.disabled ? undefined : onChoose}
        onPointerMove={(event) => event.currentTarget.focus()}
        className={classes(
          'flex h-11 w-full items-center gap-2 rounded-control px-2 text-left text-ui outline-none focus:bg-raised aria-disabled:text-muted md:h-8',
          item.danger && 'text-bad',
        )}
      >
        {Icon !== undefined && <Icon className={item.danger ? undefined : 'text-muted'} />}
        {item.label}
      </button>
    </Fragment>
  )
}

function rows(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role=menuitem]')]
}
