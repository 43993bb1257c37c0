/** The project that is measured, and the environment of its processes. */
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../product.ts'
import type { Environment } from './processes.ts'

/** The project's root folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The environment of the tests, without anything that uses a network: npm sometimes looks for a newer npm. */
export function environment(folder: string, more: Environment = {}): Environment {
  return { ...cleanEnvironment(folder), npm_config_update_notifier: 'false', ...more }
}
