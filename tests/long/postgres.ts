/** PostgreSQL of this machine as a service of a project. */
import { existsSync } from 'node:fs'

const programs = '/usr/lib/postgresql/15/bin'

/** The end of a test's name that says why it is skipped; empty when PostgreSQL is there. */
export const noPostgres = existsSync(programs) ? '' : ' (skipped: PostgreSQL 15 is not on this machine)'

export const postgres = {
  name: 'postgres',
  command: `[ -d ~/pg ] || ${programs}/initdb -D ~/pg -U app -A trust; exec ${programs}/postgres -D ~/pg -k /tmp -c listen_addresses=localhost`,
  readyPort: 5432,
}

/** A program and its arguments, which are followed by a statement. */
export const psql = ['psql', '-h', 'localhost', '-U', 'app', 'postgres', '-Atc'] as const
