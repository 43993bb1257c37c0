/** All faults in one place: code, HTTP status, and the sentence used when there is no better one. */

export const faults = {
  invalid_input: { status: 400, sentence: 'The request is not valid.' },
  wrong_password: { status: 401, sentence: 'The email address or password is wrong.' },
  sign_in_required: { status: 401, sentence: 'Sign in to continue.' },
  not_allowed: {
    status: 403,
    sentence: 'This account does not have access to this server. Ask its administrator for access.',
  },
  onboarding_incomplete: { status: 403, sentence: 'Complete onboarding first.' },
  github_not_connected: { status: 403, sentence: 'Connect your GitHub account in Settings first.' },
  no_push_access: {
    status: 403,
    sentence:
      'Your GitHub account may not push to this repository. Ask somebody who owns it for write access.',
  },
  no_repository_access: {
    status: 403,
    sentence: 'GitHub no longer shows this repository to your account.',
  },
  workflows_not_granted: {
    status: 403,
    sentence: "Flightdeck's App on GitHub may not change workflow files in this repository.",
  },
  password_sign_in_off: {
    status: 403,
    sentence: 'Signing in with a password is turned off on this server. Sign in with GitHub.',
  },
  forbidden: { status: 403, sentence: 'This is not allowed.' },
  not_found: { status: 404, sentence: 'There is no such thing.' },
  setup_closed: { status: 404, sentence: 'Flightdeck is set up.' },
  too_slow: { status: 408, sentence: 'The request did not arrive in time. Try again.' },
  agent_unavailable: { status: 409, sentence: 'This agent cannot run on this server.' },
  already_exists: { status: 409, sentence: 'This already exists.' },
  task_running: { status: 409, sentence: 'The task is running. Wait for the turn to finish, or cancel it.' },
  not_running: { status: 409, sentence: 'Nothing is running in this task.' },
  nothing_to_run: { status: 409, sentence: 'There is no message to run. Send one first.' },
  queue_full: {
    status: 409,
    sentence: '100 messages are already queued. Wait for the agent to work through them.',
  },
  queue_changed: {
    status: 409,
    sentence: 'The queue has changed. Review it and try again.',
  },
  no_turn_to_steer: {
    status: 409,
    sentence: 'No turn is running, so this message stays queued for the next one.',
  },
  message_delivered: { status: 409, sentence: 'The agent already has this message.' },
  not_initialized: { status: 409, sentence: 'Task repository not initialized. Run a command to start.' },
  no_changes: { status: 409, sentence: 'There are no changes to open a pull request with.' },
  changes_moved: {
    status: 409,
    sentence:
      'The files have changed since you last saw them. Review the changes, then open the pull request.',
  },
  pull_request_merged: {
    status: 409,
    sentence: 'The pull request was merged. Open a new one for work done since.',
  },
  pull_request_closed: {
    status: 409,
    sentence: 'The pull request was closed. Reopen it on GitHub, or open a new one.',
  },
  pull_request_open: {
    status: 409,
    sentence: 'The pull request is still open. Merge or close it on GitHub first.',
  },
  base_not_recorded: { status: 409, sentence: 'The changes were recorded against a different branch.' },
  history_unreadable: {
    status: 409,
    sentence:
      'Part of this history cannot be read, so nothing can be added to it. Ask the operator of this server to look at it.',
  },
  record_damaged: {
    status: 409,
    sentence:
      'A record of this task is damaged, so nothing can be proven by it. Ask the operator of this server to look at it.',
  },
  no_snapshot: { status: 409, sentence: 'The files of this turn were not saved.' },
  comparison_full: { status: 409, sentence: 'A comparison holds up to 4 tasks.' },
  already_undone: { status: 409, sentence: 'This has been undone already.' },
  evicted: { status: 409, sentence: 'This run has ended or was taken over.' },
  conflict: { status: 409, sentence: 'Someone else changed this at the same time. Try again.' },
  unsupported_type: { status: 415, sentence: 'Send JSON with the content type application/json.' },
  foreign_host: {
    status: 421,
    sentence: 'This server does not answer to that name. Its operator can set the name with PUBLIC_URL.',
  },
  too_large: { status: 413, sentence: 'The request is too large.' },
  install_callback: { status: 422, sentence: 'GitHub App installation callback failed.' },
  code_host_refused: { status: 422, sentence: 'GitHub refused the request.' },
  key_reused: {
    status: 422,
    sentence: 'This Idempotency-Key was sent with another request. Use a new key for a new request.',
  },
  too_many_tasks: {
    status: 429,
    sentence: 'Too many of your tasks are already running or queued. Try again when one finishes.',
  },
  rate_limited: { status: 429, sentence: 'Too many requests. Wait a moment.' },
  internal: { status: 500, sentence: 'Something went wrong on our side. The error has been logged.' },
  code_host_unavailable: { status: 504, sentence: 'GitHub is not responding. Try again later.' },
  engine_unavailable: {
    status: 503,
    sentence: 'Part of the server is not responding. Try again in a moment.',
  },
  setup_required: {
    status: 503,
    sentence: 'This server is not set up with GitHub yet. Ask its operator to finish the set-up.',
  },
  app_key_refused: {
    status: 503,
    sentence:
      "GitHub refuses the private key of Flightdeck's App, so nothing was done, and no other access takes its place. An administrator of this server can give the App a new key: Settings, GitHub Rights says how.",
  },
  not_sealed: {
    status: 503,
    sentence:
      'There is no proof of this history yet, because the log has not been sealed. Try again in a moment, or ask the operator of this server.',
  },
  views_behind: {
    status: 503,
    sentence: 'The server is rebuilding its data. Try again in a moment.',
  },
  disk_full: {
    status: 507,
    sentence: "The server's disk is full. Ask the operator to free up space, then try again.",
  },
  timeout: { status: 504, sentence: 'This took too long. Try again.' },
  pr_in_progress: {
    status: 504,
    sentence: 'The pull request is still being created. Try again in a moment.',
  },
} as const satisfies Record<string, { status: number; sentence: string }>

export type FaultCode = keyof typeof faults
export const faultCodes = Object.keys(faults) as [FaultCode, ...FaultCode[]]

/** A refusal: a code, a sentence a person can act on, and the input field at fault when there is one. */
export interface Refusal {
  readonly refused: FaultCode
  readonly sentence: string
  readonly field?: string
}

/** Refuses a command; the sentence defaults to that of the code. */
export function refuse(code: FaultCode, sentence: string = faults[code].sentence, field?: string): Refusal {
  return field === undefined ? { refused: code, sentence } : { refused: code, sentence, field }
}

/** Optional details of a fault. */
export interface FaultDetails {
  /** The current state, in the form that a successful answer has: `{task}`, `{project}`. */
  readonly current?: Readonly<Record<string, unknown>>
  /** When to retry, in seconds. */
  readonly retryAfterSeconds?: number
}

/** The one error thrown at the edge; `platform/http` turns it into a response. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  readonly field: string | undefined
  readonly details: FaultDetails
  constructor(
    code: FaultCode,
    sentence: string = faults[code].sentence,
    field?: string,
    details: FaultDetails = {},
  ) {
    super(sentence)
    this.code = code
    this.field = field
    this.details = details
  }
}
