import type { AuditEntry } from '#domain/api/admin.schema.ts'

type Action = AuditEntry['action']

export const texts = {
  title: 'Audit log',
  lead: 'Who did what on this server, and who read or exported what. Nothing is ever taken out of it.',
  notAdmin: 'Only the administrators of this server see its audit log.',
  fetchFailed: 'Failed to fetch the audit log',
  exportFailed: 'Failed to export the audit log',
  loading: 'Loading the audit log',
  export: 'Export NDJSON',
  exporting: 'Exporting...',
  person: 'Person',
  personHelp: 'An id. Or press a name in the list.',
  task: 'Task',
  taskHelp: 'An id, or the address of the task.',
  from: 'From',
  to: 'To',
  clear: 'Clear Filters',
  invalidId: 'This is not an id.',
  filters: 'Filters',
  columns: ['Time (UTC)', 'Person', 'Action', 'About'],
  entries: 'Entries',
  empty: 'No entry matches',
  emptyWhy: 'Nothing was recorded for these filters.',
  older: 'Show Older Entries',
  showingOlder: 'Loading...',
  deleted: 'Deleted account',
  nobody: 'Unknown',
  service: (name: string) => `Service: ${name}`,
  only: (name: string) => `Show only what ${name} did`,
  onlyTask: (id: string) => `Show only task ${id}`,
  taskShort: (id: string) => `Task ${id.slice(0, 8)}`,
  projectShort: (id: string) => `Project ${id.slice(0, 8)}`,
  actions: {
    signed_in: 'Signed in',
    signed_out: 'Signed out',
    sign_in_refused: 'Sign-in refused',
    account_created: 'Created the account',
    account_deleted: 'Deleted the account',
    password_set: 'Set a password',
    code_host_connected: 'Connected GitHub, or its profile changed',
    code_host_disconnected: 'Disconnected GitHub',
    profile_changed: 'Changed the profile',
    agent_key_set: 'Set an own key for models',
    agent_key_removed: 'Removed an own key for models',
    project_created: 'Created a project',
    project_changed: 'Changed a project',
    project_settings_changed: 'Changed project settings',
    drafts_changed: 'Changed whether turns open drafts',
    filters_allowed: 'Changed which filters may go unapplied',
    submodules_chosen: 'Changed which submodules are fetched',
    services_chosen: 'Changed which services run beside agents',
    hooks_allowed: 'Allowed hooks of a repository',
    hooks_forbidden: 'Forbade hooks of a repository',
    secret_set: 'Set a secret',
    secret_removed: 'Removed a secret',
    project_key_set: 'Set a project’s key for models',
    project_key_removed: 'Removed a project’s key for models',
    project_deleted: 'Deleted a project',
    task_created: 'Created a task',
    task_deleted: 'Deleted a task',
    task_forked: 'Started a new task from a turn',
    turns_undone: 'Undid turns, or redid them',
    secrets_given_to_command: 'Gave a command the project’s secrets',
    pull_request_requested: 'Asked for a pull request',
    pull_request_draft_changed: 'Asked to change whether a pull request is a draft',
    clean_up_requested: 'Asked to clean up after a pull request',
    feedback_sent: 'Sent feedback on a pull request to an agent',
    feedback_rule_changed: 'Changed what is done with feedback',
    issue_rule_changed: 'Changed which issues become tasks',
    issue_taken: 'Made a task of an issue',
    records_read: 'Read',
    records_exported: 'Exported',
    log_restored: 'The log was restored from a backup',
    code_host_app_registered: 'The GitHub App of this server was made',
  } satisfies Record<Action, string>,
  records: {
    audit_log: 'the audit log',
    figures_of_everybody: 'the figures of everybody',
    own_figures: 'their own figures',
    audit_bundle: 'an audit bundle',
    saved_replay: 'a replay as a file',
  } satisfies Record<NonNullable<AuditEntry['records']>, string>,
  methods: { password: 'with a password', code_host: 'with GitHub' } satisfies Record<
    NonNullable<AuditEntry['method']>,
    string
  >,
  codes: {
    wrong_password: 'wrong password',
    not_allowed: 'not on the list of who may sign in',
    user_not_found: 'the account was deleted',
  } as Readonly<Record<string, string>>,
  sessions: (count: number) => `Signed out of ${count} sessions`,
  named: (action: string, name: string) => `${action}: ${name}`,
  of: (person: string) => `of person ${person.slice(0, 8)}`,
  between: (from: string | null, to: string | null) =>
    [from && `from ${from.slice(0, 10)}`, to && `before ${to.slice(0, 16).replace('T', ' ')}`]
      .filter(Boolean)
      .join(' '),
} as const

/** The entry's action in words. */
export function actionText(entry: AuditEntry): string {
  const { action, count, secret, method, code, records, asked } = entry
  const words = texts.actions[action]
  if (action === 'signed_out' && count > 1) return texts.sessions(count)
  if (secret !== null) return texts.named(words, secret)
  if (method !== null) return `${words} ${texts.methods[method]}: ${texts.codes[code ?? ''] ?? code ?? ''}`
  if (records === null) return words
  const filter = [
    asked?.person ? texts.of(asked.person) : '',
    asked ? texts.between(asked.from, asked.to) : '',
  ].filter((part) => part !== '')
  return [`${words} ${texts.records[records]}`, ...filter].join(', ')
}
