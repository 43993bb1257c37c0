/** The page that a sign-in at an MCP server returns to. It completes the sign-in, and returns to the list of servers. */
import { useEffect, useRef } from 'react'
import { useDispatch } from 'react-redux'
import { useLocation, useNavigate } from 'react-router-dom'
import { reasonOf } from '../../api/fault.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { notified } from '../notifications/notifications.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { useFinishMcpSignInMutation } from './mcpApi.ts'
import { faults, signInTexts as texts } from './texts.ts'

export function McpCallback() {
  usePageTitle(texts.title)
  const { pathname, search, state } = useLocation()
  const navigate = useNavigate()
  const dispatch = useDispatch()
  const [finish, { error }] = useFinishMcpSignInMutation()
  // The answer of the sign-in is sent to our server only once, even if the effect runs again.
  const isSent = useRef(false)
  const query = typeof state === 'string' ? state : ''
  useEffect(() => {
    // Removes the answer of the sign-in from the address first, since browsers show and remember addresses.
    if (search !== '') return void navigate(pathname, { replace: true, state: search })
    if (isSent.current) return undefined
    isSent.current = true
    const onArrival = async () => {
      const { data } = await finish(query)
      if (data === undefined) return
      dispatch(notified('success', texts.done(data.name)))
      const back = data.projectId === null ? '/settings' : `/projects/${data.projectId}/settings`
      await navigate(back, { replace: true })
    }
    void onArrival()
    return undefined
  }, [pathname, search, query, finish, dispatch, navigate])
  return (
    <Page title={texts.title} width="narrow">
      {error === undefined ? (
        <Skeletons label={texts.finishing} each={['h-11 w-full']} />
      ) : (
        <div className="grid gap-4">
          <Note kind="error">{reasonOf(error, faults.notSignedIn)}</Note>
          <div className="flex flex-wrap gap-2">
            <ButtonLink to="/projects" size="touch">
              {texts.toProjects}
            </ButtonLink>
            <ButtonLink to="/settings" size="touch">
              {texts.toSettings}
            </ButtonLink>
          </div>
        </div>
      )}
    </Page>
  )
}
