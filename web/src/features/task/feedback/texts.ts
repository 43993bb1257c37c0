/** What the feedback on a pull request says. */
export const texts = {
  label: 'Feedback on the pull request',
  notFetched: 'Failed to read the feedback',
  messageNotFetched: 'Failed to read the message',
  notSent: 'Failed to send the feedback',
  notDismissed: 'Failed to dismiss the feedback',
  notRestored: 'Failed to take the feedback back',
  notResolved: 'Failed to resolve the thread',
  notDrafted: 'GitHub did not change the pull request',
  onGitHub: 'Open it on GitHub',
  tryAgain: 'Try Again',
  loading: 'Reading feedback...',
  send: 'Send to agent',
  sending: 'Sending...',
  fix: 'Fix it',
  edit: 'Edit first',
  editing: 'The message to the agent',
  cancel: 'Cancel',
  dismiss: 'Dismiss',
  dismissed: 'Dismissed',
  undo: 'Undo',
  resolve: 'Resolve thread',
  resolving: 'Resolving...',
  resolved: 'Thread resolved',
  erased: 'The words of this feedback were erased.',
  stale: 'Of an earlier commit',
  outdated: 'the code has changed since',
  automatic: 'Sent by the rule of the project',
  sentByHand: 'Sent to the agent',
  answers: {
    none: 'The agent works on it, or will.',
    due: 'The work is published. The answer follows.',
    answered: 'Answered on GitHub.',
    failed: (why: string) => `GitHub took no answer: ${why}`,
  },
  done: (commit: string) => `Done in ${commit}.`,
  rights: {
    admin: 'Admin',
    write: 'May write',
    read: 'May only read',
    none: 'No right here',
  },
  verdicts: { approved: 'Approved', changes_requested: 'Changes requested', commented: 'Commented' },
  comment: 'Comment',
  check: (name: string) => `Check ${name} failed`,
  line: (path: string, line: number | null, start: number | null) =>
    line === null ? path : start === null || start === line ? `${path}:${line}` : `${path}:${start}-${line}`,
  hunk: 'Lines of the diff',
  log: (isCut: boolean) => (isCut ? 'End of the log, its beginning is left out' : 'Log'),
  noLog: 'Its log could not be read.',
  makeDraft: 'Convert to draft',
  makeReady: 'Ready for review',
  reviews: {
    approved: 'Approved',
    changes_requested: 'Changes requested',
    required: 'Review required',
  },
  checks: {
    passing: ({ passing }: Counts) => `Checks passing: ${passing}`,
    failing: ({ passing, failing, pending }: Counts) =>
      `Checks failing: ${failing} of ${passing + failing + pending}`,
    pending: ({ passing, failing, pending }: Counts) =>
      `Checks pending: ${pending} of ${passing + failing + pending}`,
  },
  cleanUp: {
    label: 'Clean-up',
    offer: (state: 'merged' | 'closed') =>
      `The pull request was ${state}. Its branch and the workspace are no longer needed.`,
    action: 'Clean up',
    busy: 'Cleaning up...',
    again: 'Try again',
    title: 'Clean up after the pull request?',
    goes: 'This removes:',
    branch: 'the branch on GitHub',
    branchWhen: 'unless it is protected, used elsewhere, or was pushed to since',
    workspace: 'the workspace on the server',
    workspaceWhen: 'with files that git ignores',
    stays: {
      merged: 'The chat and the history stay. Your next message starts from the base branch.',
      closed: 'The chat, the history and the saved work stay. Your next message makes the workspace again.',
    },
    keep: 'Keep them',
    failed: 'Failed to clean up',
    done: 'Branch and workspace are cleaned up.',
    branchOutcomes: {
      deleted: 'The branch was deleted on GitHub.',
      gone: 'The branch was gone from GitHub already.',
      moved: 'The branch is still on GitHub: somebody pushed to it after the pull request ended.',
      in_use: 'The branch is still on GitHub: another task or pull request uses it.',
      only_copy: 'The branch is still on GitHub: it was not merged, and its work may be saved nowhere else.',
      not_ours:
        'The branch is still on GitHub: it is a default or base branch, or was not made by Flightdeck.',
      no_access: 'The branch is still on GitHub: your account cannot reach the repository.',
      refused:
        'The branch is still on GitHub: GitHub refused to delete it. It may be protected, or you may not push.',
      unavailable: 'The branch may still be on GitHub: GitHub did not answer.',
    },
    workspaceOutcomes: {
      removed: 'The workspace was removed.',
      none: 'There was no workspace on the server any more.',
      not_saved: 'The workspace was kept: it holds work that is neither pushed nor saved.',
      in_use: 'The workspace was kept: something runs in it.',
      unreachable: 'The workspace was kept: its runner does not answer.',
    },
  },
  checksHidden: 'Checks cannot be read with this token',
} as const

interface Counts {
  readonly passing: number
  readonly failing: number
  readonly pending: number
}
