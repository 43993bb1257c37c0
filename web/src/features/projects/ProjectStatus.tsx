/** How a project stands: an icon and a word, as with tasks, but no icon of theirs. */
import { Link2, Link2Off, RefreshCw, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Project } from '#domain/api/projects.ts'
import { classes } from '../../ui/classes.ts'
import { statusOf } from './statusOf.ts'
import { texts } from './texts.ts'

const looks: Record<Project['status'], { readonly Icon: LucideIcon; readonly colour: string }> = {
  active: { Icon: Link2, colour: 'text-ok' },
  syncing: { Icon: RefreshCw, colour: 'text-run' },
  error: { Icon: TriangleAlert, colour: 'text-bad' },
  inactive: { Icon: Link2Off, colour: 'text-muted' },
}

export function ProjectStatus({ project }: { readonly project: Project }) {
  const status = statusOf(project.status)
  const { Icon, colour } = looks[status]
  return (
    <span
      data-status={status}
      className={classes(
        'inline-flex flex-none items-center gap-1.5 text-meta font-medium whitespace-nowrap',
        colour,
      )}
    >
      <Icon className="size-3.5" />
      {texts.statuses[status]}
    </span>
  )
}
