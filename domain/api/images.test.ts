/** Images in a task or a message are named by id, by address, or by the answer to their upload. */
import { describe, expect, test } from 'vitest'
import { imageId } from '../../tests/domain/ids.ts'
import { sendMessage } from './chat.schema.ts'
import { attachedImages } from './images.schema.ts'
import { imageTexts } from './images.ts'
import { createTask } from './tasks.schema.ts'

const id = imageId(1)
const url = `/api/images/${id}?grant=abc`
const images = attachedImages(3)

describe('an image that is to be attached', () => {
  test.each([
    ['its id', id],
    ['its address', url],
    ['its address with the host', `https://flightdeck.example${url}`],
    ['its address alone', `/api/images/${id}`],
    ['what the upload answered', { id, url, name: 'plan.png', size: 5, type: 'image/png' }],
    ['the address that it answered', { url }],
    ['the id that it answered', { id }],
  ])('is named by %s', (_, named) => expect(images.parse([named])).toEqual([id]))

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['a list', [id]],
    ['an empty text', ''],
    ['another address', 'https://example.com/a.png'],
    ['an address of ours that is none of an image', '/api/tasks/1'],
    ['a path below an image', `/api/images/${id}/..`],
    ['an id in upper case', id.toUpperCase().replace('0', 'A')],
    ['an object without either', { name: 'plan.png' }],
    ['an object with another id', { id: 'plan', url }],
    ['a text with NUL', `${id}\0`],
    ['a long text', `/api/images/${id}?${'x'.repeat(10_000)}`],
  ])('is not named by %s', (_, named) => {
    const [issue] = images.safeParse([id, named]).error?.issues ?? []
    expect(issue?.path).toEqual([1])
  })

  test('is told how it is named', () =>
    expect(images.safeParse([{}]).error?.issues[0]?.message).toBe(imageTexts.unnamed))

  test('counts once, in the order of the first time', () =>
    expect(images.parse([imageId(2), url, id])).toEqual([imageId(2), id]))

  test('is one of a few', () =>
    expect(images.safeParse(Array(4).fill(id)).error?.issues[0]?.message).toBe('Attach at most 3 images.'))
})

describe('a task and a message', () => {
  const task = { description: 'Words', projectId: id, branch: 'main' }
  test('may have five and three', () => {
    const ids = [1, 2, 3, 4, 5].map(imageId)
    expect(createTask.body.parse({ ...task, images: ids })).toMatchObject({ images: ids })
    expect(sendMessage.body.safeParse({ message: 'x', images: ids.slice(0, 3) }).success).toBe(true)
    expect(sendMessage.body.safeParse({ message: 'x', images: ids.slice(0, 4) }).success).toBe(false)
  })

  test.each([
    [{ images: [id] }, undefined],
    [{ message: '  ', images: [id] }, undefined],
    [{ message: 'x', images: [] }, undefined],
    [{ images: [] }, 'message'],
    [{}, 'message'],
    [{ message: ' ' }, 'message'],
    [{ message: 'ls', isCommand: true, images: [id] }, 'images'],
    [{ message: 'ls', messageType: 'command', images: [id] }, 'images'],
    [{ message: 'a note', messageType: 'system', images: [id] }, 'images'],
    [{ isCommand: true, commandText: 'ls', images: [] }, undefined],
  ])('a message needs a text, or images for the agent: %j', (body, field) =>
    expect(sendMessage.body.safeParse(body).error?.issues[0]?.path[0]).toBe(field),
  )
})
