/** Loaded before the product (`node --import`): replaces its SQLite driver with the one that ends the process at a write (`killingSqlite.js`). */
import { register } from 'node:module'

register('./killAtHooks.js', import.meta.url)
