/** The two parts that are built, their sources, and whether the built parts are up to date. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint, isStamped } from './stamps.js'

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
 * The parts that are not built yet, or were built from other sources.
 * @param {string} root
 */
export function staleParts(root) {
  return parts.filter(
    (part) =>
      !existsSync(join(root, 'dist', part, entries[part])) ||
      !isStamped(stampOf(root, part), sourcesOf(root, part)),
  )
}
