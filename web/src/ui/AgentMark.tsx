/** The one-colour mark of an agent, framed in a 20 px square unless `bare`. */
import { agentNamed, type AgentName } from '#domain/agents.ts'
import { classes } from './classes.ts'

interface AgentMarkProps {
  readonly agent: AgentName
  readonly bare?: boolean
  readonly className?: string
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
      <path d={agentNamed(agent).logo} />
    </svg>
  )
  if (bare) return glyph
  return (
    <span
      role="img"
      aria-label={agentNamed(agent).label}
      className={classes(
        'inline-grid size-5 flex-none place-items-center rounded-badge border border-line bg-panel',
        className,
      )}
    >
      {glyph}
    </span>
  )
}
