/** What administrators of the server can see: routes and limits. */
import type { Routes } from './route.ts'

export const adminRoutes = {
  listAuditLog: { method: 'GET', path: '/admin/audit' },
  exportAuditLog: { method: 'GET', path: '/admin/audit/export' },
} as const satisfies Routes

/** Entries per page. */
export const auditLogPage = 50

/** What an entry may be about. */
export const auditActions = [
  'signed_in',
  'signed_out',
  'sign_in_refused',
  'account_created',
  'account_deleted',
  'password_set',
  'code_host_connected',
  'code_host_disconnected',
  'profile_changed',
  'project_created',
  'project_changed',
  'project_settings_changed',
  'filters_allowed',
  'drafts_changed',
  'submodules_chosen',
  'secret_set',
  'secret_removed',
  'project_deleted',
  'task_created',
  'task_deleted',
  'task_forked',
  'turns_undone',
  'secrets_given_to_command',
  'pull_request_requested',
  'pull_request_draft_changed',
  'clean_up_requested',
  'feedback_sent',
  'feedback_rule_changed',
  'issue_rule_changed',
  'issue_taken',
  'records_read',
  'records_exported',
  'log_restored',
  'code_host_app_registered',
] as const
export type AuditAction = (typeof auditActions)[number]
