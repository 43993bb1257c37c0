/** Texts of the feedback on a pull request. */
export const texts = {
  label: 'Feedback on the pull request',
  notFetched: 'Failed to read the feedback',
  messageNotFetched: 'Failed to read the message',
  notSent: 'Failed to send the feedback',
  notDismissed: 'Failed to dismiss the feedback',
  notRestored: "Couldn't restore the feedback",
  notResolved: 'Failed to resolve the thread',
  notAnswered: 'Failed to answer again',
  notDrafted: 'GitHub did not change the pull request',
  onGitHub: 'Open it on GitHub',
  notAll: 'Not all feedback is shown here.',
  allOnGitHub: 'See all of it on GitHub',
  send: 'Send to agent',
  sending: 'Sending...',
  fix: 'Fix it',
  edit: 'Edit first',
  editing: 'The message to the agent',
  cancel: 'Cancel',
  unsent:
    'This was sent while you were editing. Your text is still here: copy what you need, then discard it.',
  discard: 'Discard text',
  dismiss: 'Dismiss',
  dismissed: 'Dismissed',
  undo: 'Undo',
  resolve: 'Resolve thread',
  resolving: 'Resolving...',
  resolved: 'Thread resolved',
  answerAgain: 'Answer again',
  answering: 'Answering...',
  erased: 'The words of this feedback were erased.',
  stale: 'From an earlier commit',
  outdated: 'the code has changed since',
  more: (count: number) =>
    count === 1 ? '1 more comment is only on GitHub.' : `${count} more comments are only on GitHub.`,
  automatic: 'Sent by the rule of the project',
  sentByHand: 'Sent to the agent',
  answers: {
    none: 'The agent is on it.',
    due: 'The work is published. The answer follows.',
    answered: 'Answered on GitHub.',
    failed: (why: string) => `Couldn't reply on GitHub: ${why}`,
  },
  done: (commit: string) => `Changes in ${commit}.`,
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
    offers: {
      merged: 'The pull request was merged. Its branch and the workspace are no longer needed.',
      mergedAndWorkedOn:
        'The pull request was merged, and the task went on since then. The workspace may hold newer work.',
      closed: 'The pull request was closed without a merge. Its branch and the workspace can be removed.',
    },
    action: 'Clean up',
    busy: 'Cleaning up...',
    again: 'Try again',
    title: 'Clean up after the pull request?',
    goes: 'This removes:',
    branch: 'the branch on GitHub',
    branchWhen: 'unless it is protected, used elsewhere, or was pushed to since',
    workspace: 'the workspace on the server',
    workspaceWhen: 'with files that git ignores',
    workspaceUnlessUnsaved: 'with files that git ignores; it stays if it holds work that is not saved',
    stays: {
      merged:
        'The chat and the history stay. Once both are gone, your next message starts from the base branch.',
      mergedAndWorkedOn:
        'The chat, the history and the saved work stay. Your next message brings the newer work back.',
      closed: 'The chat, the history and the saved work stay. Your next message makes the workspace again.',
    },
    keep: 'Keep them',
    failed: 'Failed to clean up',
    done: 'Branch and workspace are cleaned up.',
    doneAndSaved: 'Branch and workspace are cleaned up. Your next message brings the saved work back.',
    branchOutcomes: {
      deleted: 'The branch was deleted on GitHub.',
      gone: 'The branch was gone from GitHub already.',
      moved: 'The branch is still on GitHub: somebody pushed to it after the pull request ended.',
      in_use: 'The branch was left alone: a task or pull request uses it.',
      refused:
        'The branch is still on GitHub: GitHub refused to delete it. It may be protected, or you may not push.',
      unchecked: 'The branch is still on GitHub: GitHub stopped answering before it was deleted.',
      only_copy: 'The branch was left alone: it was not merged, and its work may be saved nowhere else.',
      not_ours:
        'The branch was left alone: it is a default or base branch, was not made by Flightdeck, or the repository is another one now.',
      no_access:
        'It is not known whether the branch is still on GitHub: your account cannot reach the repository.',
      unavailable: 'It is not known whether the branch is still on GitHub: GitHub did not answer.',
    },
    workspaceOutcomes: {
      removed: 'The workspace was removed.',
      none: 'There was no workspace on the server any more.',
      not_saved:
        'The workspace was kept: it holds work that is not merged and could not be restored from what was saved.',
      in_use: 'The workspace was kept: something runs in it.',
      unreachable: 'The workspace may still be there: its runner or GitHub could not be asked.',
    },
  },
  checksHidden: 'Checks cannot be read with this token',
} as const

interface Counts {
  readonly passing: number
  readonly failing: number
  readonly pending: number
}
