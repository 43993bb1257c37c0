/**
 * A menu behind a button: items 32 px high, a dangerous one last after a line. Not modal: the page behind still scrolls.
 * It stands in the page's main landmark, for nothing may be outside of one.
 */
import type { LucideIcon } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export interface MenuItem {
  readonly label: string
  readonly icon?: LucideIcon
  readonly onChoose: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

interface MenuProps {
  /** The button that opens it; it gets its state and focus from the menu. */
  readonly trigger: ReactNode
  readonly items: readonly MenuItem[]
}

export function Menu({ trigger, items }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={document.getElementById('main')}>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 min-w-44 animate-appear rounded-panel bg-panel p-1 shadow-float"
        >
          {items.map((item) => (
            <MenuRow key={item.label} item={item} />
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function MenuRow({ item }: { readonly item: MenuItem }) {
  const Icon = item.icon
  return (
    <>
      {item.danger && <DropdownMenu.Separator className="m-1 h-px bg-line-soft" />}
      <DropdownMenu.Item
        onSelect={item.onChoose}
        disabled={item.disabled ?? false}
        className={classes(
          'flex h-11 cursor-default items-center gap-2 rounded-control px-2 text-ui outline-none data-disabled:text-muted data-highlighted:bg-raised md:h-8',
          item.danger && 'text-bad',
        )}
      >
        {Icon !== undefined && <Icon className={item.danger ? undefined : 'text-muted'} />}
        {item.label}
      </DropdownMenu.Item>
    </>
  )
}
