/** How our files find the files beside them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folders = ['domain', 'services', 'scripts', 'tests', 'web']

test('no path is taken from an address of a file, which writes a space as %20', () => {
  const files = [
    ...readdirSync(root).map((name) => join(root, name)),
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(root, folder, name),
      ),
    ),
  ].filter((file) => /\.[jt]sx?$/.test(file))
  expect(files.length).toBeGreaterThan(100)
  const wrong = files.filter((file) => /import\.meta\.url\)\.pathname/.test(readFileSync(file, 'utf8')))
  expect(wrong).toEqual([])
})
