/** The one-colour mark of an agent, framed in a 20 px square unless `bare`. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type AgentName = 'claude' | 'cursor'

/** What a person calls them. */
export const agentNames: Readonly<Record<AgentName, string>> = { claude: 'Claude', cursor: 'Cursor' }

interface AgentMarkProps {
  readonly agent: AgentName
  readonly bare?: boolean
  readonly className?: string
}

const glyphs: Record<AgentName, ReactNode> = {
  claude: <path d="M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4" />,
  cursor: (
    <>
      <path d="M12 2.5 20.5 7v10L12 21.5 3.5 17V7Z" />
      <path d="M3.5 7 12 12l8.5-5M12 12v9.5" />
    </>
  ),
}

export function AgentMark({ agent, bare = false, className }: AgentMarkProps) {
  const glyph = (
    <svg
      data-agent={agent}
      className={classes(bare ? classes('size-3.5', className) : 'size-3', 'flex-none')}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={bare ? 1.6 : 2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {glyphs[agent]}
    </svg>
  )
  if (bare) return glyph
  return (
    <span
      role="img"
      aria-label={agentNames[agent]}
      className={classes(
        'inline-grid size-5 flex-none place-items-center rounded-badge border border-line bg-panel',
        className,
      )}
    >
      {glyph}
    </span>
  )
}
