/** The host names of previews, by the addresses that the operator has set. */
import { expect, test } from 'vitest'
import { taskId } from '../../../tests/domain/ids.ts'
import { previewNames } from './previewNames.ts'
import { passCookie, passCookiesIn } from './previewHeaders.ts'

const place = { taskId: taskId(1), port: 5173 }
const label = `${place.taskId}-5173`

test('on this machine, previews are below localhost, at the port that the person uses', () => {
  for (const publicUrl of [null, 'http://localhost:8080']) {
    const names = previewNames({ publicUrl, previewHost: null })
    expect(names.refusal('127.0.0.1:9000')).toBeNull()
    expect(names.originOf(place, '127.0.0.1:9000')).toBe(`http://${label}.localhost:9000`)
    expect(names.placeOf(`${label.toUpperCase()}.localhost:9000`)).toEqual(place)
    expect(names.refusal('192.0.2.1:9000')).toMatch(
      /^Previews can only be opened on the machine of this server/,
    )
    for (const host of [
      'localhost:9000',
      '127.0.0.1',
      `${label}.example.com`,
      `${label}.localhost.`,
      'xlocalhost',
      '',
    ])
      expect(names.isPreview(host)).toBe(false)
  }
})

test('elsewhere, they are below the host that the operator has named, or there are none', () => {
  const publicUrl = 'https://flightdeck.example.com:8443'
  const names = previewNames({ publicUrl, previewHost: 'preview.example.com' })
  const origin = `https://${label}.preview.example.com:8443`
  expect(names.refusal('flightdeck.example.com:8443')).toBeNull()
  expect(names.originOf(place, 'flightdeck.example.com:8443')).toBe(origin)
  expect(names.ownOrigin(`${label}.preview.example.com:8443`)).toBe(origin)
  expect(names.placeOf(`${label}.preview.example.com`)).toEqual(place)
  for (const host of [
    `${label}.localhost`,
    'preview.example.com',
    `${label}.preview.example.com.evil.example`,
  ])
    expect(names.isPreview(host)).toBe(false)
  const none = previewNames({ publicUrl, previewHost: null })
  expect(none.refusal('flightdeck.example.com')).toMatch(/PREVIEW_HOST\.$/)
  expect(none.isPreview(`${label}.localhost`)).toBe(false)
})

// Attacks preview: a neighbouring host sets the preview's cookie.
test('with https, the cookie can only be set by its own host', () => {
  const cookie = passCookie('https://a.example', 'value', 60)
  expect(cookie).toBe('__Host-flightdeck_preview=value; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure')
  expect(
    passCookiesIn('flightdeck_preview=other; __Host-flightdeck_preview=value', 'https://a.example'),
  ).toEqual(['value'])
})
