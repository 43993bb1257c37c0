import { expect, test } from 'vitest'
import { endToEndHeaders } from './endToEndHeaders.ts'

test('passes on what is end to end, and nothing that is for one connection', () => {
  const headers = {
    accept: '*/*',
    connection: 'close, X-Own',
    'keep-alive': 'timeout=5',
    'proxy-authorization': 'Basic x',
    te: 'trailers',
    'transfer-encoding': 'chunked',
    upgrade: 'websocket',
    'x-own': 'for the next hop',
    cookie: 'session=1',
  }
  expect(endToEndHeaders(headers)).toEqual({ accept: '*/*', cookie: 'session=1' })
  expect(endToEndHeaders(headers, ['cookie'])).toEqual({ accept: '*/*' })
  expect(endToEndHeaders({})).toEqual({})
})
