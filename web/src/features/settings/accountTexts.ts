/** What is said of sessions, and of deleting one's account. */
export const accountTexts = {
  heading: 'Delete Account',
  why: 'Permanently deletes all your data in Flightdeck. This cannot be undone.',
  open: 'Delete Account...',
  title: 'Delete your account?',
  lead: 'This is deleted immediately and permanently:',
  goes: [
    'All projects, including their variables and secrets.',
    'All tasks, including chats, output, images and diffs. Running tasks are stopped.',
    'Branches your tasks pushed, unless they have an open pull request or commits from others.',
    'Your profile, your sessions, and access to your repositories.',
  ],
  stays: 'Repositories, pull requests and merged commits on the code host are kept.',
  confirm: (word: string) => `Type "${word}" to confirm`,
  keep: 'Cancel',
  delete: 'Delete Account',
  deleting: 'Deleting...',
  notDeleted: 'Failed to delete account',
} as const

export const sessionTexts = {
  heading: 'Sessions',
  current: 'This browser',
  unknown: 'Unknown browser',
  started: (age: string) => `Signed in ${age.toLowerCase()}`,
  end: 'Sign Out',
  endOf: (name: string) => `Sign Out: ${name}`,
  everywhere: 'Sign Out Everywhere',
  title: 'Sign out everywhere?',
  lead: (count: number) =>
    count > 1
      ? `This ends all ${count} sessions, including this one. Running tasks continue.`
      : 'This ends your session in this browser. Running tasks continue.',
  cancel: 'Cancel',
  ending: 'Signing out...',
  notFetched: "Couldn't load your sessions.",
  notEnded: "Couldn't sign out",
  again: 'Try Again',
} as const
