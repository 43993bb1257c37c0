/** Tells of a task's end outside of the page while nobody looks at it. Shows nothing in the page. */
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { texts } from './texts.ts'
import { mayNotify } from './useDesktop.ts'

type Ended = keyof typeof texts.ended

export function DesktopNotifications() {
  const navigate = useNavigate()
  const tasks = useRecentTasksQuery().data?.tasks
  // How each stood when it was last looked at; what is first seen ended is no news.
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
    // Several tabs tell of one end: the last takes the place of the others.
    const shown = new Notification(title, { body, tag: `task-${id}`, icon: '/favicon.svg' })
    shown.addEventListener('click', () => {
      window.focus()
      shown.close()
      open()
    })
  } catch {
    // Browsers on phones have them for service workers only.
  }
}
