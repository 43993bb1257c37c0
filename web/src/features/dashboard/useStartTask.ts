/** Creates the task of the composer once its images are uploaded. Until then it lets the server prepare for the task. */
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import { titleOf } from '#domain/api/tasks.ts'
import { newId } from '../../api/newId.ts'
import { type PendingImages, useWhenUploaded } from '../images/usePendingImages.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { useCreateTaskMutation, usePrepareTaskMutation } from '../tasks/tasksApi.ts'
import { texts } from './texts.ts'

type NewTask = Parameters<ReturnType<typeof useCreateTaskMutation>[0]>[0]
type Preparation = Parameters<ReturnType<typeof usePrepareTaskMutation>[0]>[0]

interface StartOptions {
  /** The task to create; `null` while a choice is missing. */
  readonly task: Pick<NewTask, 'projectId' | 'branch' | 'codexModel' | 'agent'> | null
  /** How hard the agent thinks; `null` leaves it to the agent. */
  readonly effort: string | null
  /** How freely the agent works; `undefined` means `free`. */
  readonly mode: NewTask['mode']
  readonly images: PendingImages
  /** Ends dictation, and returns the description. */
  readonly takeDescription: () => string
  /** Clears the description if it is still the one that was sent. */
  readonly clear: (sent: string) => void
}

export function useStartTask({ task, effort, mode, images, takeDescription, clear }: StartOptions) {
  const dispatch = useDispatch()
  const [create, { isLoading }] = useCreateTaskMutation()
  const [attempted, setAttempted] = useState(false)
  const [id, setId] = useState(newId)
  // The last attempt that has not succeeded.
  const last = useRef('')
  usePrewarm(isLoading || task === null ? null : { taskId: id, ...task })

  const start = async () => {
    if (isLoading || task === null) return
    const description = takeDescription()
    const request = {
      title: titleOf(description),
      description,
      ...task,
      ...(effort !== null && { effort }),
      ...(mode !== undefined && { mode }),
      images: images.completed().map((image) => image.id),
    }
    const text = JSON.stringify(request)
    // The same request keeps its id, so that a retry after a lost answer creates no second task.
    const taskId = ['', text].includes(last.current) ? id : newId()
    last.current = text
    setId(taskId)
    const answer = await create({ id: taskId, ...request })
    if (answer.error !== undefined) {
      dispatch(notifiedFailure(texts.notCreated, answer.error))
      return
    }
    last.current = ''
    setId(newId())
    // What was written or attached meanwhile stays.
    clear(description)
    images.remove(...images.images.map((image) => image.id))
    setAttempted(false)
    dispatch(notified('success', texts.created, texts.createdWhy))
  }
  const { waiting, stopped, sendWhenUploaded } = useWhenUploaded(images, () => void start())
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (isLoading || waiting) return
    setAttempted(true)
    if (task !== null) sendWhenUploaded()
  }
  return { submit, attempted, waiting, stopped, busy: isLoading || waiting }
}

/** How often a preparation is renewed, in milliseconds: the server discards a preparation that is not renewed in time. */
const renewalIntervalMs = 50_000
/** How long choices must stay the same before the server prepares for them, in milliseconds. */
const settledMs = 400

/** Lets the server prepare for a task. `preparation` is `null` while there is nothing to prepare for. */
function usePrewarm(preparation: Preparation | null): void {
  const [prepare] = usePrepareTaskMutation()
  const key = preparation === null ? null : JSON.stringify(preparation)
  useEffect(() => {
    if (key === null) return undefined
    const send = () => {
      const body: Preparation = JSON.parse(key)
      void prepare(body)
    }
    const first = setTimeout(send, settledMs)
    const renewal = setInterval(() => {
      if (document.visibilityState === 'visible') send()
    }, renewalIntervalMs)
    return () => {
      clearTimeout(first)
      clearInterval(renewal)
    }
  }, [key, prepare])
}
