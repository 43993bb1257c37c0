/** Shows a desktop notification when a task ends, or waits for the person, while the page is hidden. Renders nothing. */
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { isWaiting } from '../tasks/taskStatus.ts'
import { texts, mayNotify } from './useDesktopNotifications.ts'

type Ended = keyof typeof texts.ended

export function DesktopNotifications() {
  const navigate = useNavigate()
  const tasks = useRecentTasksQuery().data?.tasks
  // The tasks as they were last read: a status that a task already had when it was first read is not reported.
  const before = useRef<ReadonlyMap<string, Task> | null>(null)
  useEffect(() => {
    if (tasks === undefined) return
    const known = before.current
    before.current = new Map(tasks.map((task) => [task.id, task]))
    if (known === null || !document.hidden || !mayNotify()) return
    for (const task of tasks) {
      const was = known.get(task.id)
      const news = was === undefined ? null : newsOf(was, task)
      if (news !== null) notify(task, news, () => void navigate(`/tasks/${task.id}`))
    }
  }, [tasks, navigate])
  return null
}

/** A text about the change from `was` to `task`; `null` when there is nothing to report. */
function newsOf(was: Task, task: Task): string | null {
  const ended = endOf(task.status)
  if (ended !== null) return endOf(was.status) === null ? texts.ended[ended] : null
  return isWaiting(task) && !isWaiting(was) ? texts.waiting : null
}

function endOf(status: Task['status']): Ended | null {
  return status === 'completed' || status === 'failed' || status === 'cancelled' ? status : null
}

function notify({ id, title, project }: Task, news: string, open: () => void): void {
  try {
    const body = texts.body(news, project.githubRepoName || project.name)
    // With the tag, several tabs show one notification.
    const notification = new Notification(title, { body, tag: `task-${id}`, icon: '/favicon.svg' })
    notification.addEventListener('click', () => {
      window.focus()
      notification.close()
      open()
    })
  } catch {
    // No notification is shown: browsers on phones only offer them to service workers.
  }
}
