/** The two parts that are built, their sources, and whether the built parts are up to date. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint, glance, isStamped, remember } from './stamps.js'

/** @typedef {'server' | 'web'} Part */

/** @type {readonly Part[]} */
export const parts = ['server', 'web']

const sources = {
  server: ['domain', 'services', 'package.json', 'package-lock.json', 'scripts/build.js'],
  web: ['domain', 'web', 'vite.config.ts', 'vite.replay.config.ts', 'package-lock.json', 'scripts/build.js'],
}

const entries = { server: 'main.js', web: 'index.html' }

/**
 * @param {string} root
 * @param {Part} part
 */
export function sourcesOf(root, part) {
  return fingerprint(root, sources[part])
}

/**
 * @param {string} root
 * @param {Part} part
 */
export function stampOf(root, part) {
  return join(root, 'dist', `.${part}-stamp`)
}

/**
 * The parts that are not built yet, or were built from other sources. Contents are only read when files have changed since the last time that nothing
 * was stale.
 * @param {string} root
 */
export function staleParts(root) {
  const seen = join(root, 'dist/.seen-stamp')
  const built = parts.flatMap((part) => [`dist/.${part}-stamp`, `dist/${part}/${entries[part]}`])
  const now = glance(root, [...new Set(parts.flatMap((part) => sources[part])), ...built])
  if (now !== undefined && isStamped(seen, now)) return []
  const stale = parts.filter(
    (part) =>
      !existsSync(join(root, 'dist', part, entries[part])) ||
      !isStamped(stampOf(root, part), sourcesOf(root, part)),
  )
  if (now !== undefined && stale.length === 0) remember(seen, now)
  return stale
}
