/** Stamps: a stamp records the inputs with which a step last succeeded, so that the step is only repeated when they have changed. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Tests are left out, because they do not change what is built. */
const test = /\.test\.tsx?$/

/**
 * The files in some files and folders, in an order that does not depend on the disk. A missing folder has no files.
 * @param {string} root
 * @param {readonly string[]} paths relative to the root
 * @returns {string[]} relative to the root
 */
export function filesUnder(root, paths) {
  return paths.flatMap((path) => {
    const kind = statSync(join(root, path), { throwIfNoEntry: false })
    if (!kind) return []
    if (kind.isFile()) return [path]
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort()
  })
}

/**
 * A hash of the names and contents of files, without tests.
 * @param {string} root
 * @param {readonly string[]} paths files and folders, relative to the root
 */
export function fingerprint(root, paths) {
  const hash = createHash('sha256')
  for (const file of filesUnder(root, paths).filter((file) => !test.test(file))) {
    const content = readFileSync(join(root, file))
    // The length separates the end of one file from the name of the next.
    hash.update(`${file}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/**
 * Whether the step of this stamp last succeeded with this fingerprint.
 * @param {string} stamp path of the stamp
 * @param {string} fingerprint
 */
export function isStamped(stamp, fingerprint) {
  try {
    return readFileSync(stamp, 'utf8') === fingerprint
  } catch {
    return false
  }
}

/**
 * Removes the stamp, runs the step, and writes the stamp when the step has succeeded, so that half a step never counts as done.
 * @template T
 * @param {string} stamp path of the stamp
 * @param {string} fingerprint of what the step starts from
 * @param {() => Promise<T>} step
 * @returns {Promise<T>}
 */
export async function stamped(stamp, fingerprint, step) {
  rmSync(stamp, { force: true })
  const result = await step()
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, fingerprint)
  return result
}
