/** Logging out: at once here, whatever the server answers. */
import { useDispatch, useStore } from 'react-redux'
import { authRoutes } from '#domain/api/auth.ts'
import type { logout } from '#domain/api/auth.schema.ts'
import { requestOf } from '../../api/endpoint.ts'
import { newId } from '../../api/newId.ts'
import { request } from '../../api/request.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken, readToken } from '../../api/tokenStore.ts'
import type { WithDeletions } from '../deletions/deletions.ts'
import { sendDeletions } from '../deletions/sendDeletions.ts'
import { texts } from './texts.ts'

const logoutCall = requestOf<typeof logout>(authRoutes.logout, { fallback: texts.logoutFailed })

export function useLogout(): () => void {
  const dispatch = useDispatch()
  const store = useStore<WithDeletions>()
  return () => {
    // With the token that they need: what was deleted is not to come back for having left.
    sendDeletions(store)
    const token = readToken()
    dropToken()
    dispatch(sessionEnded('logout'))
    // Not a call of the store: that reads its token when it is sent, and by then there is none.
    if (token !== null)
      void request(logoutCall, {
        fetch: (...args) => fetch(...args),
        token,
        signal: new AbortController().signal,
        newId,
      })
  }
}
