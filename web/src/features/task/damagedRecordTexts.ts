/** Texts of the banner for a damaged record. */
import type { Task } from '#domain/api/tasks.schema.ts'

const unreadable: Readonly<Record<NonNullable<Task['unreadable']>['reason'], string>> = {
  no_json: 'a record is damaged',
  repeated_name: 'a record is damaged',
  wrong_envelope: 'a record is damaged',
  too_large: 'a record is damaged',
  changed: 'a record was changed',
  unknown_kind: 'a newer version wrote it',
  newer_version: 'a newer version wrote it',
  wrong_shape: 'a record is damaged',
  cannot_be_opened: 'a record is damaged, or its key is missing',
  broken_chain: 'a record was changed or removed',
  truncated: 'its beginning was removed',
  deleted: 'its records were removed',
}

export const texts = {
  damaged: 'The record of this task is damaged.',
  what: 'What comes before the damage is shown. Nothing can be added, and nothing runs.',
  terminalDamaged: 'The record of the output is damaged.',
  terminalWhat: 'What was printed before the damage is shown. The task goes on.',
  why: (revision: number, reason: NonNullable<Task['unreadable']>['reason']) =>
    `From event ${revision} on, ${unreadable[reason]}. Ask the operator of this server to look at it.`,
}
