/** Ids for a request that creates a task: a repeated request has the id of its first attempt, so that a lost answer does not create two tasks. */
import { useRef } from 'react'
import { newId } from '../../api/newId.ts'

/** Returns the id for a request: that of the last attempt if the request is the same, otherwise a new one. */
export function useAttemptId(): (request: unknown) => string {
  const last = useRef({ request: '', id: '' })
  return (request) => {
    const text = JSON.stringify(request)
    if (last.current.request !== text) last.current = { request: text, id: newId() }
    return last.current.id
  }
}
