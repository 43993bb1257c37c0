/** All faults that a request can end with: each has a code, an HTTP status and a sentence. */

/** The sentence of each code, by HTTP status. Used when a refusal has no more specific sentence. */
const sentences = {
  400: {
    invalid_input: 'The request is not valid.',
  },
  401: {
    wrong_password: 'The email address or password is wrong.',
    sign_in_required: 'Sign in to continue.',
  },
  403: {
    not_allowed: 'This account does not have access to this server. Ask its administrator for access.',
    onboarding_incomplete: 'Complete onboarding first.',
    github_not_connected: 'Connect your GitHub account in Settings first.',
    no_push_access:
      'Your GitHub account may not push to this repository. Ask somebody who owns it for write access.',
    no_repository_access: 'GitHub no longer shows this repository to your account.',
    workflows_not_granted: "Flightdeck's App on GitHub may not change workflow files in this repository.",
    password_sign_in_off: 'Signing in with a password is turned off on this server. Sign in with GitHub.',
    forbidden: 'This is not allowed.',
  },
  404: {
    not_found: 'There is no such thing.',
    setup_closed: 'Flightdeck is set up.',
  },
  408: {
    too_slow: 'The request did not arrive in time. Try again.',
  },
  409: {
    agent_unavailable: 'This agent cannot run on this server.',
    already_exists: 'This already exists.',
    task_running: 'The task is running. Wait for the turn to finish, or cancel it.',
    not_running: 'Nothing is running in this task.',
    nothing_to_run: 'There is no message to run. Send one first.',
    queue_full: '100 messages are already queued. Wait for the agent to work through them.',
    queue_changed: 'The queue has changed. Review it and try again.',
    no_turn_to_steer: 'No turn is running, so this message stays queued for the next one.',
    message_delivered: 'The agent already has this message.',
    already_answered: 'This question has been answered already.',
    question_withdrawn: 'The agent no longer waits for this answer.',
    not_initialized: 'Task repository not initialized. Run a command to start.',
    no_changes: 'There are no changes to open a pull request with.',
    changes_moved:
      'The files have changed since you last saw them. Review the changes, then open the pull request.',
    pull_request_merged: 'The pull request was merged. Open a new one for work done since.',
    pull_request_closed: 'The pull request was closed. Reopen it on GitHub, or open a new one.',
    pull_request_open: 'The pull request is still open. Merge or close it on GitHub first.',
    base_not_recorded: 'The changes were recorded against a different branch.',
    history_unreadable:
      'Part of this history cannot be read, so nothing can be added to it. Ask the operator of this server to look at it.',
    record_damaged:
      'A record of this task is damaged, so nothing can be proven by it. Ask the operator of this server to look at it.',
    no_snapshot: 'The files of this turn were not saved.',
    comparison_full: 'A comparison holds up to 4 tasks.',
    already_undone: 'This has been undone already.',
    preview_unavailable: 'This server has no previews.',
    evicted: 'This run has ended or was taken over.',
    conflict: 'Someone else changed this at the same time. Try again.',
  },
  413: {
    too_large: 'The request is too large.',
  },
  415: {
    unsupported_type: 'Send JSON with the content type application/json.',
  },
  421: {
    foreign_host: 'This server does not answer to that name. Its operator can set the name with PUBLIC_URL.',
  },
  422: {
    install_callback: 'GitHub App installation callback failed.',
    code_host_refused: 'GitHub refused the request.',
    mcp_sign_in_failed: 'Signing in to the MCP server failed.',
    key_refused: 'The provider refused this key, so it was not stored.',
    key_reused: 'This Idempotency-Key was sent with another request. Use a new key for a new request.',
  },
  429: {
    too_many_tasks: 'Too many of your tasks are already running or queued. Try again when one finishes.',
    rate_limited: 'Too many requests. Wait a moment.',
  },
  500: {
    internal: 'Something went wrong on our side. The error has been logged.',
  },
  503: {
    engine_unavailable: 'Part of the server is not responding. Try again in a moment.',
    setup_required: 'This server is not set up with GitHub yet. Ask its operator to finish the set-up.',
    app_key_refused:
      "GitHub refuses the private key of Flightdeck's App, so nothing was done, and no other access takes its place. An administrator of this server can give the App a new key: Settings, GitHub Rights says how.",
    not_sealed:
      'There is no proof of this history yet, because the log has not been sealed. Try again in a moment, or ask the operator of this server.',
    views_behind: 'The server is rebuilding its data. Try again in a moment.',
  },
  504: {
    code_host_unavailable: 'GitHub is not responding. Try again later.',
    timeout: 'This took too long. Try again.',
    pr_in_progress: 'The pull request is still being created. Try again in a moment.',
  },
  507: {
    disk_full: "The server's disk is full. Ask the operator to free up space, then try again.",
  },
} as const

type Sentences = typeof sentences
export type FaultCode = { [Status in keyof Sentences]: keyof Sentences[Status] }[keyof Sentences]

export const faults = Object.fromEntries(
  Object.entries(sentences).flatMap(([status, ofStatus]) =>
    Object.entries(ofStatus).map(([code, sentence]) => [code, { status: Number(status), sentence }] as const),
  ),
  // The cast holds because the entries are made from `sentences`, which has every code.
) as Readonly<Record<FaultCode, { readonly status: number; readonly sentence: string }>>
export const faultCodes = Object.keys(faults) as [FaultCode, ...FaultCode[]]

/** A refusal: a code, a sentence that says what to do, and the input field at fault, if there is one. */
export interface Refusal {
  readonly refused: FaultCode
  readonly sentence: string
  readonly field?: string
}

/** Refuses a command. `sentence` defaults to the code's own sentence. */
export function refuse(code: FaultCode, sentence: string = faults[code].sentence, field?: string): Refusal {
  return field === undefined ? { refused: code, sentence } : { refused: code, sentence, field }
}

export interface FaultDetails {
  /** With some conflicts: the current state in the form of a successful answer, such as `{ task }`. */
  readonly current?: Readonly<Record<string, unknown>>
  /** After how many seconds the client may retry. */
  readonly retryAfterSeconds?: number
}

/** The error that ends a request with a fault; `platform/http` turns it into a response. */
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
