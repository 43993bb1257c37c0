/** How a project stands: an icon and a word, as with tasks, but no icon of theirs. */
import { useEffect } from 'react'
import { useDispatch } from 'react-redux'
import { Link2, Link2Off, type LucideIcon, RefreshCw, TriangleAlert } from 'lucide-react'
import type { Project } from '#domain/api/projects.schema.ts'
import { api } from '../../api/api.ts'
import { classes } from '../../ui/classes.ts'
import { texts } from './texts.ts'

const looks: Record<Project['status'], { readonly Icon: LucideIcon; readonly colour: string }> = {
  active: { Icon: Link2, colour: 'text-muted' },
  syncing: { Icon: RefreshCw, colour: 'text-run' },
  error: { Icon: TriangleAlert, colour: 'text-bad' },
  inactive: { Icon: Link2Off, colour: 'text-muted' },
}

/** How often it is looked whether a sync has ended, of which nothing is told live. */
const lookMs = 2_000

export function ProjectStatus({ project }: { readonly project: Project }) {
  const status = statusOf(project.status)
  const dispatch = useDispatch()
  const { id } = project
  useEffect(() => {
    if (status !== 'syncing') return undefined
    const look = () => void dispatch(api.util.invalidateTags(['Projects', { type: 'Project', id }]))
    const timer = setInterval(look, lookMs)
    return () => clearInterval(timer)
  }, [dispatch, id, status])
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

/** How a project stands, as the screens know it. */
const statuses: readonly Project['status'][] = ['active', 'syncing', 'error', 'inactive']

/** A status that is not known here is shown as inactive (section 4). */
export function statusOf(said: string): Project['status'] {
  return statuses.find((status) => status === said) ?? 'inactive'
}
