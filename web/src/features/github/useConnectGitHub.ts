/** Leaves the page to connect the person's account at the code host. */
import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { notifiedFailure } from '../notifications/notifications.ts'
import { gitHubFaults, useLinkGitHubMutation } from './gitHubApi.ts'

/** After connecting, the browser returns to the given task, or else to the settings. */
export function useConnectGitHub(taskId?: string) {
  const dispatch = useDispatch()
  const [link] = useLinkGitHubMutation()
  const [leaving, setLeaving] = useState(false)
  const connect = async () => {
    setLeaving(true)
    const answer = await link(taskId === undefined ? undefined : { taskId })
    if (answer.data !== undefined) return window.location.assign(answer.data.url)
    setLeaving(false)
    dispatch(notifiedFailure(gitHubFaults.notConnected, answer.error))
  }
  return { connect: () => void connect(), leaving }
}
