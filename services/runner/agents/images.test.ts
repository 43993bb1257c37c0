import { mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from './claude/claude.ts'
import { cursor } from './cursor/cursor.ts'
import { writeHome } from './home.ts'
import { imageFiles, messageFor, withImagePaths } from './images.ts'

let dir = ''
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'home-')))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const gif = { mediaType: 'image/gif', base64: 'R0lGODlh' } as const
const png = { mediaType: 'image/png', base64: 'iVBORw0KGgo=' } as const

test('an agent that reads images from files finds them in its home, under the paths that its sandbox shows', async () => {
  const message = { text: 'What is it?', images: [gif, png], id: 'sending-1' }
  const { text: said } = messageFor(cursor, message, '/home/agent')
  await writeHome(dir, imageFiles(cursor, message.images))
  const named = [...said.matchAll(/^- (\/home\/agent\/images\/[0-9a-f]{16}\.(?:gif|png))$/gm)]
  expect(named.length).toBe(2)
  const [first = ''] = named.map(([, path = '']) => path.replace('/home/agent', dir))
  expect(await readFile(first, 'base64')).toBe(gif.base64)
  expect((await stat(first)).mode & 0o777).toBe(0o600)
  // The same image in a later turn is the same file.
  await writeHome(dir, imageFiles(cursor, message.images))
  expect((await readdir(join(dir, 'images'))).length).toBe(2)
})

test('one that takes images in its message needs no file', () => {
  const message = { text: 'x', images: [gif], id: 'sending-1' }
  expect(messageFor(claude, message, '/home/agent')).toEqual(message)
  expect(imageFiles(claude, [gif])).toEqual([])
})

describe('a message to an agent that reads images from files', () => {
  test('is what the person wrote, to the letter', () => {
    expect(withImagePaths('/two\nlines\n', [])).toBe('/two\nlines\n')
  })
  test('names its images by their paths, also where there is nothing else', () => {
    expect(withImagePaths('What is it?', ['/home/agent/images/a.png'])).toBe(
      'What is it?\n\nLook at this image:\n- /home/agent/images/a.png\n',
    )
    expect(withImagePaths('', ['/a.png', '/b.png'])).toBe('Look at these images:\n- /a.png\n- /b.png\n')
  })
})
