/** A request is made from a route of the contract; what the route does not have does not compile. */
import { describe, expect, test } from 'vitest'
import type { getChat, sendMessage, withdrawMessage } from '#domain/api/chat.schema.ts'
import { chatRoutes } from '#domain/api/chat.ts'
import type { listTasks } from '#domain/api/tasks.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { requestOf } from './endpoint.ts'

const fallback = 'Failed'

test('has the method and the path of its route, with encoded parameters', () => {
  const params = { taskId: 't/1', messageId: 'm 2' }
  expect(requestOf<typeof withdrawMessage>(chatRoutes.withdrawMessage, { params, fallback })).toEqual({
    method: 'DELETE',
    path: '/tasks/t%2F1/chat/m%202',
    fallback,
  })
})

test('keeps its query, its body and its options', () => {
  const query = { limit: 10, minPosition: undefined }
  expect(requestOf<typeof listTasks>(taskRoutes.listTasks, { query, fallback })).toEqual({
    method: 'GET',
    path: '/tasks',
    query,
    fallback,
  })
  const params = { taskId: 't1' }
  const sent = { body: { message: 'Words' }, key: 'key-1', keepalive: true, fallback }
  expect(requestOf<typeof sendMessage>(chatRoutes.sendMessage, { params, ...sent })).toEqual({
    method: 'POST',
    path: '/tasks/t1/chat',
    ...sent,
  })
})

describe('does not compile with', () => {
  test('a parameter of another name, and fails', () => {
    // @ts-expect-error -- the path names `taskId`
    const asked = () => requestOf<typeof getChat>(chatRoutes.getChat, { params: { task: 't1' }, fallback })
    expect(asked).toThrow('/tasks/:taskId/chat needs taskId.')
  })

  test('a parameter left out, and fails', () => {
    // @ts-expect-error -- the path names `taskId`
    const asked = () => requestOf<typeof getChat>(chatRoutes.getChat, { fallback })
    expect(asked).toThrow('/tasks/:taskId/chat needs taskId.')
  })

  test("another call's route, or a query that the call does not take", () => {
    const params = { taskId: 't1' }
    // @ts-expect-error -- the route is not the one of the call
    const other = requestOf<typeof getChat>(chatRoutes.sendMessage, { params, fallback })
    expect(other.method).toBe('POST')
    // @ts-expect-error -- the chat has no pages by number
    const paged = requestOf<typeof getChat>(chatRoutes.getChat, { params, query: { page: 2 }, fallback })
    expect(paged.query).toEqual({ page: 2 })
  })
})
