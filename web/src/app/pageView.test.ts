import { expect, test, vi } from 'vitest'
import { tellPageView, type Beacons } from './pageView.ts'

const said = (path: string, over: Partial<Beacons> = {}) => {
  const sendBeacon = vi.fn<Navigator['sendBeacon']>(() => true)
  tellPageView(path, { sendBeacon, doNotTrack: null, ...over })
  return sendBeacon.mock.calls
}

test('a page that is viewed is told by its address, without what names a thing', async () => {
  const [call] = said('/tasks/0192f0c1-7e1b-7000-8000-000000000001')
  expect(call?.[0]).toBe('/api/page-views')
  const body = call?.[1]
  if (!(body instanceof Blob)) throw new Error('The server takes JSON, and is told so by the type of a blob.')
  expect(body.type).toBe('application/json')
  expect(JSON.parse(await body.text())).toEqual({ route: '/tasks/:taskId' })
})

test.each<Partial<Beacons>>([{ doNotTrack: '1' }, { globalPrivacyControl: true }])(
  'who asks not to be tracked tells nothing: %j',
  (over) => expect(said('/dashboard', over)).toEqual([]),
)

test('a browser without beacons tells nothing', () =>
  expect(() => tellPageView('/dashboard', { doNotTrack: null })).not.toThrow())
