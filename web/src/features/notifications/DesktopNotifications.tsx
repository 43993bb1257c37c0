/** Shows a desktop notification when a task ends while the page is hidden. Renders nothing. */
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { texts, mayNotify } from './useDesktop.ts'

type Ended = keyof typeof texts.ended

export function DesktopNotifications() {
  const navigate = useNavigate()
  const tasks = useRecentTasksQuery().data?.tasks
  // The last known statuses: a task that had ended when it was first seen is not reported.
  const before = useRef<ReadonlyMap<string, Task['status']> | null>(null)
  useEffect(() => {
    if (tasks === undefined) return
    const known = before.current
    before.current = new Map(tasks.map(({ id, status }) => [id, status]))
    if (known === null || !document.hidden || !mayNotify()) return
    for (const task of tasks) {
      const was = known.get(task.id)
      const ended = endOf(task.status)
      if (was === undefined || endOf(was) !== null || ended === null) continue
      notify(task, ended, () => void navigate(`/tasks/${task.id}`))
    }
  }, [tasks, navigate])
  return null
}

function endOf(status: Task['status']): Ended | null {
  return status === 'completed' || status === 'failed' || status === 'cancelled' ? status : null
}

function notify({ id, title, project }: Task, ended: Ended, open: () => void): void {
  try {
    const body = texts.body(texts.ended[ended], project.githubRepoName || project.name)
    // With the tag, several tabs show one notification.
    const notification = new Notification(title, { body, tag: `task-${id}`, icon: '/favicon.svg' })
    notification.addEventListener('click', () => {
      window.focus()
      notification.close()
      open()
    })
  } catch {
    // Browsers on phones only offer notifications to service workers.
  }
}
