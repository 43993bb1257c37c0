/** The audit log, for administrators of the server: routes, the length of a page, and the actions in it. */
import type { Routes } from './route.ts'

export const adminRoutes = {
  listAuditLog: { method: 'GET', path: '/admin/audit' },
  exportAuditLog: { method: 'GET', path: '/admin/audit/export' },
} as const satisfies Routes

export const auditLogPage = 50

/** The events that become an entry of the audit log, each with the action that the entry names. */
export const auditActions = {
  SessionStarted: 'signed_in',
  SessionEnded: 'signed_out',
  SignInRefused: 'sign_in_refused',
  UserRegistered: 'account_created',
  AccountDeleted: 'account_deleted',
  PasswordSet: 'password_set',
  GitHubConnected: 'code_host_connected',
  GitHubDisconnected: 'code_host_disconnected',
  ProfileUpdated: 'profile_changed',
  InstructionsChanged: 'profile_changed',
  AgentKeySet: 'agent_key_set',
  AgentKeyRemoved: 'agent_key_removed',
  ProjectCreated: 'project_created',
  ProjectUpdated: 'project_changed',
  ProjectSettingsChanged: 'project_settings_changed',
  ProjectFiltersAllowed: 'filters_allowed',
  ProjectDraftsChanged: 'drafts_changed',
  ProjectSubmodulesChosen: 'submodules_chosen',
  ProjectServicesChosen: 'services_chosen',
  ProjectHooksAllowed: 'hooks_allowed',
  ProjectHooksForbidden: 'hooks_forbidden',
  ProjectSecretSet: 'secret_set',
  ProjectSecretRemoved: 'secret_removed',
  ProjectModelKeySet: 'project_key_set',
  ProjectModelKeyRemoved: 'project_key_removed',
  ProjectDeleted: 'project_deleted',
  TaskCreated: 'task_created',
  TaskDeleted: 'task_deleted',
  TaskForked: 'task_forked',
  TurnsUndone: 'turns_undone',
  SecretsGranted: 'secrets_given_to_command',
  PullRequestRequested: 'pull_request_requested',
  PullRequestDraftRequested: 'pull_request_draft_changed',
  TaskCleanUpRequested: 'clean_up_requested',
  FeedbackSent: 'feedback_sent',
  ProjectFeedbackRuleChanged: 'feedback_rule_changed',
  ProjectIssueRuleChanged: 'issue_rule_changed',
  ProjectIssueTaken: 'issue_taken',
  RecordsRead: 'records_read',
  RecordsExported: 'records_exported',
  LogRestored: 'log_restored',
  CodeHostAppRegistered: 'code_host_app_registered',
} as const
