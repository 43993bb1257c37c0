/** The project that is measured, and the environment its processes get. */
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../product.ts'
import type { Environment } from './processes.ts'

/** The project's own folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The environment of the tests, and nothing that goes out: npm looks for a newer npm now and then. */
export function environment(folder: string, more: Environment = {}): Environment {
  return { ...cleanEnvironment(folder), npm_config_update_notifier: 'false', ...more }
}
