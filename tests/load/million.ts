/**
 * A data folder with a huge number of tasks. The tasks of two people are real, made through the product's own parts; all others are copies of them,
 * made inside SQLite: rows of the same form and size, with ids, owners and positions of their own, whose sealed content is stored but never opened.
 */
import { randomUUID } from 'node:crypto'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Seeded } from './row.ts'
import { seed } from './seed.ts'

export interface Crowd {
  /** One person's 1,000 tasks, and nothing else. */
  readonly small: Seeded
  /** The same tasks, spread evenly over the log with all tasks. */
  readonly large: Seeded
  /** A person in the large folder who has many tasks; `taskIds` are the real ones. */
  readonly busy: Pick<Seeded, 'token' | 'taskIds'>
}

/** How many tasks there are, in multiples of 1,000. `ofBusy` belong to the person with many tasks, and the rest to `people` in equal parts. */
export interface Amounts {
  readonly tasks: number
  readonly ofBusy: number
  readonly people: number
}

const real = 1_000

/** Creates both folders below `folder`, with about 7 kB for each task. Blocks this process while SQLite copies. */
export async function makeCrowd(folder: string, amounts: Amounts): Promise<Crowd> {
  const at = (name: string) => join(folder, name)
  const [small, templates, large] = [at('small'), at('templates'), at('large')]
  const one = await seed(small, { tasks: real, terminalEvents: 0 })
  await cp(small, templates, { recursive: true })
  const busy = await seed(templates, { tasks: real, terminalEvents: 0 })
  await cp(templates, large, { recursive: true })
  planSlots(at('slots.sqlite'), templates, { one, busy, amounts })
  for (const [name, copy] of [
    ['events', copyEvents],
    ['views', copyViews],
    ['vault', copyKeys],
  ] as const)
    copying(join(large, `${name}.sqlite`), { templates, slots: at('slots.sqlite') }, copy)
  await rm(templates, { recursive: true, force: true })
  return { small: one, large: { ...one, dataDir: large }, busy }
}

type Database = InstanceType<typeof DatabaseSync>

function open(file: string): Database {
  const db = new DatabaseSync(file)
  // The data need not survive a crash, and a write-ahead log would store all of it a second time.
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -1500000')
  db.function('fresh_uuid', { deterministic: false }, () => randomUUID())
  return db
}

/** Plans the places in the log: the ids at each place, and the task of which they are a copy. */
function planSlots(
  file: string,
  templates: string,
  { one, busy, amounts }: { one: Seeded; busy: Seeded; amounts: Amounts },
): void {
  const db = open(file)
  const { tasks, ofBusy, people } = amounts
  db.exec(`
    ATTACH '${join(templates, 'views.sqlite')}' AS views;
    CREATE TABLE template (k INTEGER PRIMARY KEY, task TEXT UNIQUE, execution TEXT, message TEXT, owner TEXT, project TEXT);
    CREATE TABLE person (n INTEGER PRIMARY KEY, owner TEXT, project TEXT, ofOwner TEXT, ofProject TEXT);
    CREATE TABLE slot (slot INTEGER PRIMARY KEY, k INTEGER, n INTEGER, isReal INTEGER, task TEXT, execution TEXT, message TEXT)`)
  const template = db.prepare(`
    INSERT INTO template
    SELECT ?, t.id, json_extract(t.body, '$.execution.id'), json_extract(m.body, '$.messageId'),
           json_extract(t.body, '$.owner'), json_extract(t.body, '$.projectId')
    FROM docs_tasks_g1 t JOIN docs_messages_g1 m ON json_extract(m.body, '$.task') = t.id AND m.body IS NOT NULL WHERE t.id = ?`)
  for (const [first, { taskIds, longTaskId }] of [
    [0, one],
    [real, busy],
  ] as const)
    for (const [index, id] of [...taskIds, longTaskId].entries()) template.run(first + index, id)
  // The two real people come first.
  db.exec(`
    INSERT INTO person SELECT k / ${real}, owner, project, owner, project FROM template WHERE k IN (0, ${real});
    WITH RECURSIVE others (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM others WHERE n < ${people - 1})
    INSERT INTO person SELECT n, fresh_uuid(), fresh_uuid(), owner, project FROM others JOIN template ON k = 0`)
  const [every, everyOfBusy] = [tasks / real, tasks / ofBusy]
  db.exec(`
    WITH RECURSIVE place (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM place WHERE slot < ${tasks - 1}),
    given AS (
      SELECT slot, slot % ${every} = 0 AS ofOne, slot % ${everyOfBusy} = 1 AS ofBusy, slot % ${every} = 1 AS isOfBusyAndReal FROM place)
    INSERT INTO slot
    SELECT slot,
           CASE WHEN ofOne THEN slot / ${every} WHEN isOfBusyAndReal THEN ${real} + slot / ${every} ELSE slot % ${real} END,
           CASE WHEN ofOne THEN 0 WHEN ofBusy THEN 1 ELSE 2 + slot % ${people - 2} END,
           ofOne OR isOfBusyAndReal, fresh_uuid(), fresh_uuid(), fresh_uuid()
    FROM given;
    UPDATE slot SET task = t.task, execution = t.execution, message = t.message FROM template t WHERE isReal AND t.k = slot.k`)
  db.close()
}

/** Runs a copy into a file of the large folder; the file of templates is `t`, and the slots are `s`. */
function copying(
  file: string,
  { templates, slots }: { templates: string; slots: string },
  copy: (db: Database) => void,
): void {
  const db = open(file)
  try {
    db.exec(`ATTACH '${join(templates, file.slice(file.lastIndexOf('/') + 1))}' AS t; ATTACH '${slots}' AS s`)
    copy(db)
    db.exec('DETACH t; DETACH s; PRAGMA journal_mode = WAL')
  } finally {
    db.close()
  }
}

/** The number of events of the log itself, which come first; and of a task, and of a person with their project, the same for each. */
const ofLog = 1
const perTask = 4
const perPerson = 5
const people = '(SELECT count(*) FROM s.person)'
/** The place of an event in the log, by its revision in its task. */
const placeOf = (revision: string) =>
  `(${ofLog} + ${people} * ${perPerson} + slot * ${perTask} + ${revision} + 1)`
/** A text of a template with the ids of the copy in it. */
const forTask = (text: string) =>
  `replace(replace(replace(replace(replace(${text}, t.task, slot.task), t.execution, slot.execution),
     t.message, slot.message), t.owner, p.owner), t.project, p.project)`
const forPerson = (text: string) => `replace(replace(${text}, ofOwner, owner), ofProject, project)`
const padded = (position: string) => `printf('%020d', ${position})`
const slots = 's.slot slot JOIN s.template t ON t.k = slot.k JOIN s.person p ON p.n = slot.n'

function copyEvents(db: Database): void {
  refuseOthers(db)
  db.exec(`
    DELETE FROM main.events;
    INSERT INTO main.events SELECT * FROM t.events WHERE stream = 'log-main';
    INSERT INTO main.events
    SELECT ${ofLog} + n * ${perPerson} + CASE WHEN stream LIKE 'user-%' THEN revision + 1 ELSE ${perPerson} END,
           CASE WHEN owner = ofOwner THEN id ELSE fresh_uuid() END,
           ${forPerson('stream')}, revision, type, version, at, ${forPerson('data')}, content, ${forPerson('meta')}
    FROM s.person JOIN t.events ON stream IN ('user-' || ofOwner, 'project-' || ofProject) ORDER BY 1;
    CREATE TEMP TABLE template_events AS SELECT k, e.* FROM s.template JOIN t.events e ON stream = 'task-' || task;
    CREATE UNIQUE INDEX temp.of_template ON template_events (k, revision);
    INSERT INTO main.events
    SELECT ${placeOf('e.revision')}, CASE WHEN isReal THEN e.id ELSE fresh_uuid() END, 'task-' || slot.task, e.revision, type, version, at,
           ${forTask('data')}, content, ${forTask('meta')}
    FROM ${slots} CROSS JOIN template_events e ON e.k = slot.k ORDER BY slot, e.revision`)
}

/** Throws unless the data has the form on which the counting of places depends. */
function refuseOthers(db: Database): void {
  const counts = db
    .prepare(
      `SELECT DISTINCT substr(stream, 1, instr(stream, '-')) || count(*) AS found FROM t.events GROUP BY stream ORDER BY 1`,
    )
    .all()
    .map((row: unknown) => Object(row).found)
    .join(' ')
  if (counts !== `log-${ofLog} project-1 task-${perTask} user-${perPerson - 1}`)
    throw new Error(`The seeded streams have other events than these copies are made for: ${counts}`)
}

function copyViews(db: Database): void {
  const indexes = db.prepare(
    `SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
  )
  const made = indexes
    .all()
    .map((row: unknown) => ({ name: String(Object(row).name), sql: String(Object(row).sql) }))
  for (const { name } of made) db.exec(`DROP INDEX main."${name}"`)
  const moved = (
    body: string,
    revision: string,
  ) => `json_set(${body}, '$.position', CAST(${placeOf(revision)} AS TEXT),
    '$.order', ${padded(placeOf(revision))})`
  // The limit keeps the inner query whole, or the body would be computed again for each key.
  const fill = (table: string, documents: string) => {
    const keys = keysOf(db, table)
    const columns = keys.map((key) => `, "key ${key}"`).join('')
    const values = keys.map((key) => `, json_extract(body, '$.${key}')`).join('')
    return `
      DELETE FROM main.${table};
      INSERT INTO main.${table} (id, position, body, present${columns})
      SELECT id, position, body, 1${values} FROM (${documents} LIMIT -1) WHERE body IS NOT NULL;`
  }
  const ofPerson = (table: string, id: string, name: string) =>
    fill(
      table,
      `SELECT ${name} id, ${padded(`${ofLog} + n * ${perPerson} + ${perPerson}`)} position, ${forPerson('body')} body
       FROM s.person JOIN t.${table} d ON d.id = ${id}`,
    )
  const ofTask = (table: string, id: (of: string) => string, revision: string) =>
    fill(
      table,
      `SELECT ${id('slot')} id, ${padded(placeOf(String(perTask - 1)))} position, ${moved(forTask('d.body'), revision)} body
       FROM ${slots} JOIN t.${table} d ON d.id = ${id('t')} ORDER BY slot`,
    )
  db.exec(`
    ${ofPerson('docs_users_g1', 'ofOwner', 'owner')}
    ${ofPerson('docs_projects_g1', 'ofProject', 'project')}
    ${ofTask('docs_tasks_g1', (of) => `${of}.task`, '0')}
    ${ofTask('docs_messages_g1', (of) => `${of}.task || ':' || ${of}.message`, '1')}
    UPDATE main.checkpoints SET position = ${padded(`(SELECT ${ofLog} + ${people} * ${perPerson} + count(*) * ${perTask} FROM s.slot)`)}`)
  for (const { sql } of made) db.exec(sql)
}

/** The fields of a document that have a column of their own. */
function keysOf(db: Database, table: string): readonly string[] {
  return db
    .prepare(`SELECT substr(name, 5) AS key FROM pragma_table_info('${table}') WHERE name LIKE 'key %'`)
    .all()
    .map((row: unknown) => String(Object(row).key))
}

function copyKeys(db: Database): void {
  db.exec(`
    INSERT OR IGNORE INTO main.keys SELECT 'user:' || owner, wrapped FROM s.person JOIN t.keys ON scope = 'user:' || ofOwner;
    INSERT OR IGNORE INTO main.keys SELECT 'project:' || project, wrapped FROM s.person JOIN t.keys ON scope = 'project:' || ofProject;
    INSERT OR IGNORE INTO main.keys SELECT 'task:' || slot.task, wrapped FROM ${slots} JOIN t.keys ON scope = 'task:' || t.task`)
}
