/** Loaded before the product (`node --import`): replaces its SQLite driver with the one that ends the process at a write. */
import { killing } from './killingSqlite.js'
import { patchSqlite } from './patchSqlite.js'

patchSqlite(killing)
