/** Tabs with an underline; arrow keys move, following the ARIA pattern. The panel gets `tabPanelProps`, which link it to its tab. */
import type { KeyboardEvent, ReactNode } from 'react'
import { classes } from '../classes.ts'

export interface Tab<Name extends string> {
  readonly name: Name
  readonly label: ReactNode
  /** A muted number next to `label`. */
  readonly count?: number | undefined
  /** Extra classes, for a tab that is only shown at some widths. */
  readonly className?: string
}

interface TabsProps<Name extends string> {
  /** Prefix of the ids that link tabs to panels, unique on the page. */
  readonly id: string
  readonly label: string
  readonly tabs: readonly Tab<Name>[]
  readonly chosen: Name
  readonly onChoose: (name: Name) => void
  readonly className?: string
}

/** Classes of tabs that are as high as the bar around them, and scroll sideways when the bar is too narrow. */
export const scrollingTabs =
  'h-full min-w-0 flex-1 overflow-x-auto overflow-y-hidden [scrollbar-width:none] *:h-full *:after:bottom-0'

export function Tabs<Name extends string>({ id, label, tabs, chosen, onChoose, className }: TabsProps<Name>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const seen = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')].filter(
      (tab) => tab.offsetParent !== null,
    )
    const at = seen.findIndex((tab) => tab === document.activeElement)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: seen.length - 1 }[event.key]
    if (next === undefined || seen.length === 0) return
    event.preventDefault()
    const tab = seen[(next + seen.length) % seen.length]
    tab?.focus()
    tab?.click()
  }
  return (
    <div
      role="tablist"
      aria-label={label}
      onKeyDown={onKeyDown}
      className={classes('flex items-stretch gap-5', className)}
    >
      {tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          id={`${id}-tab-${tab.name}`}
          aria-selected={tab.name === chosen}
          aria-controls={`${id}-panel-${tab.name}`}
          tabIndex={tab.name === chosen ? 0 : -1}
          onClick={() => onChoose(tab.name)}
          className={classes(
            'focus-inset relative inline-flex h-10 items-center gap-1.5 text-ui font-medium whitespace-nowrap text-muted transition-colors hover:text-text aria-selected:text-text',
            'after:absolute after:inset-x-0 after:-bottom-px after:h-0.5 aria-selected:after:bg-accent',
            tab.className,
          )}
        >
          {tab.label}
          {tab.count !== undefined && <span className="text-meta font-normal text-muted">{tab.count}</span>}
        </button>
      ))}
    </div>
  )
}

/** The props for the panel of a tab. */
export function tabPanelProps(id: string, name: string) {
  return { role: 'tabpanel', id: `${id}-panel-${name}`, 'aria-labelledby': `${id}-tab-${name}` } as const
}
