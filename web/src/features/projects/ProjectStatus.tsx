/** The status of a project as an icon and a word. The icons differ from those of tasks. */
import { useEffect } from 'react'
import { useDispatch } from 'react-redux'
import { Link2, Link2Off, type LucideIcon, RefreshCw, TriangleAlert } from 'lucide-react'
import type { Project } from '#domain/api/projects.schema.ts'
import { api } from '../../api/api.ts'
import { classes } from '../../ui/classes.ts'
import { texts } from './texts.ts'

const styles: Record<Project['status'], { readonly Icon: LucideIcon; readonly colour: string }> = {
  active: { Icon: Link2, colour: 'text-muted' },
  syncing: { Icon: RefreshCw, colour: 'text-run' },
  error: { Icon: TriangleAlert, colour: 'text-bad' },
  inactive: { Icon: Link2Off, colour: 'text-muted' },
}

/** How often to check whether a sync has ended, in milliseconds: the live connection does not report it. */
const pollIntervalMs = 2_000

export function ProjectStatus({ project }: { readonly project: Project }) {
  const status = statusOf(project.status)
  const dispatch = useDispatch()
  const { id } = project
  useEffect(() => {
    if (status !== 'syncing') return undefined
    const refetch = () => void dispatch(api.util.invalidateTags(['Projects', { type: 'Project', id }]))
    const timer = setInterval(refetch, pollIntervalMs)
    return () => clearInterval(timer)
  }, [dispatch, id, status])
  const { Icon, colour } = styles[status]
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

const statuses: readonly Project['status'][] = ['active', 'syncing', 'error', 'inactive']

/** An unknown status is shown as inactive (contract, section 4). */
export function statusOf(text: string): Project['status'] {
  return statuses.find((status) => status === text) ?? 'inactive'
}
