/** A link to the dashboard for a new task in a project: the project is chosen there, and the description has the focus. */
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { remember, selectedProjectId } from '../../state/persisted.ts'
import { newTaskState } from '../dashboard/newTaskState.ts'

interface NewTaskLinkProps {
  readonly project: Pick<Project, 'id'>
  /** The accessible name, when the content does not name the project. */
  readonly label?: string
  readonly className: string
  readonly children: ReactNode
}

export function NewTaskLink({ project, label, className, children }: NewTaskLinkProps) {
  return (
    <Link
      to="/dashboard"
      state={newTaskState()}
      aria-label={label}
      onClick={() => remember(selectedProjectId, project.id)}
      className={className}
    >
      {children}
    </Link>
  )
}
