// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeServer, refusal } from '../../../tests/client/server.ts'
import { ada } from '../../../tests/client/samples.ts'
import { userId } from '../../../tests/domain/ids.ts'
import { sessionStarted } from '../api/session.ts'
import { tokenKey } from '../api/tokenStore.ts'
import { authApi } from '../features/auth/authApi.ts'
import { recentTasksApi } from '../features/tasks/recentTasksApi.ts'
import { draftDescription, recall, remember } from '../state/persisted.ts'
import { createStore, followOtherTabs } from './store.ts'

const me = authApi.endpoints.me

beforeEach(() => {
  localStorage.setItem(tokenKey, 'token-1')
})
afterEach(() => localStorage.clear())

/** A client in which Ada is signed in and has a draft. */
async function client() {
  const server = fakeServer({ 'GET /auth/me': { user: ada, isAdmin: false } })
  const { store } = createStore(true)
  await store.dispatch(me.initiate())
  remember(draftDescription, 'Half a thought')
  return { store, server }
}
const knows = (store: Awaited<ReturnType<typeof client>>['store']) =>
  me.select()(store.getState()).data?.user.id

describe('who may not be here any more', () => {
  test('leaves nothing: what was loaded and what was written goes, and the reason is said', async () => {
    const { store, server } = await client()
    server.answer({ 'GET /tasks': refusal(403, 'Ada is not on the list.', 'not_allowed') })
    await store.dispatch(recentTasksApi.endpoints.recentTasks.initiate())
    expect(store.getState().session).toMatchObject({
      signedIn: false,
      end: 'refused',
      refusal: 'Ada is not on the list.',
    })
    expect(localStorage.getItem(tokenKey)).toBeNull()
    expect(knows(store)).toBeUndefined()
    expect(recall(draftDescription)).toBe('')
  })
})

describe('what was being written', () => {
  async function expired() {
    const { store, server } = await client()
    server.answer({ 'GET /tasks': refusal(401) })
    await store.dispatch(recentTasksApi.endpoints.recentTasks.initiate())
    expect(store.getState().session.end).toBe('unauthorised')
    return { store, server }
  }
  async function signsIn({ store, server }: Awaited<ReturnType<typeof client>>, user: typeof ada) {
    server.answer({ 'GET /auth/me': { user, isAdmin: false } })
    localStorage.setItem(tokenKey, 'token-2')
    store.dispatch(sessionStarted())
    await store.dispatch(me.initiate())
    expect(knows(store)).toBe(user.id)
  }

  test('is there again for the person whose session expired', async () => {
    const opened = await expired()
    await signsIn(opened, ada)
    expect(recall(draftDescription)).toBe('Half a thought')
  })

  test('is not there for somebody else, in the tab where it was written or in another', async () => {
    const opened = await expired()
    await signsIn(opened, { ...ada, id: userId(2) })
    expect(recall(draftDescription)).toBe('')
    remember(draftDescription, 'Hers')
    await signsIn(opened, ada)
    expect(recall(draftDescription)).toBe('')
  })
})

describe('another tab', () => {
  const storageEvent = (init: StorageEventInit) => window.dispatchEvent(new StorageEvent('storage', init))

  test('that takes all of the storage away signs this one out', async () => {
    const { store } = await client()
    followOtherTabs(store)
    localStorage.clear()
    storageEvent({ key: null, newValue: null })
    expect(store.getState().session).toMatchObject({ signedIn: false, end: 'elsewhere' })
  })

  test('whose session expired signs this one out, and the drafts of both stay', async () => {
    const { store } = await client()
    followOtherTabs(store)
    localStorage.removeItem(tokenKey)
    storageEvent({ key: tokenKey, newValue: null })
    expect(store.getState().session.signedIn).toBe(false)
    expect(recall(draftDescription)).toBe('Half a thought')
  })

  test('that signs in signs this one in', async () => {
    localStorage.clear()
    const { store } = createStore(false)
    followOtherTabs(store)
    localStorage.setItem(tokenKey, 'token-3')
    storageEvent({ key: tokenKey, newValue: 'token-3' })
    expect(store.getState().session.signedIn).toBe(true)
  })
})
