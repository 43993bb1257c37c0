/** The host names under which the server answers. */
import { expect, test } from 'vitest'
import { isOurHost, isOurOrigin } from './allowedHosts.ts'

const names = { publicUrl: 'https://flightdeck.example', host: '0.0.0.0' }

test.each([
  'localhost',
  'localhost:8080',
  '127.0.0.1:8080',
  '[::1]:8080',
  '10.0.0.7',
  'flightdeck.example',
  'FlightDeck.example:443',
])('%s is a name of ours', (host) => expect(isOurHost(host, names)).toBe(true))

test.each([
  'evil.example',
  '',
  'localhost.evil.example',
  'flightdeck.example.evil.example',
  'a@localhost',
  'localhost,evil.example',
  '127.0.0.1.nip.io',
])('%j is no name of ours', (host) => expect(isOurHost(host, names)).toBe(false))

test.each([
  ['https://flightdeck.example', '127.0.0.1:8080', true],
  ['http://localhost:5173', '127.0.0.1:8080', true],
  ['http://10.0.0.7:8080', '10.0.0.7:8080', true],
  ['http://10.0.0.8:8080', '10.0.0.7:8080', false],
  ['http://flightdeck.example', 'flightdeck.example', true],
  ['https://evil.example', 'localhost:8080', false],
  ['null', 'localhost:8080', false],
])('a page of %s that asks %s is ours: %s', (origin, host, ours) => {
  expect(isOurOrigin(origin, host, names)).toBe(ours)
})
