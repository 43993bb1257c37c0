/** What is said of sessions, and of deleting one's account. */
export const accountTexts = {
  heading: 'Delete Account',
  why: 'Deletes everything of yours that Flightdeck keeps, for good. It cannot be undone.',
  open: 'Delete account…',
  title: 'Delete your account?',
  lead: 'This goes at once, for good:',
  goes: [
    'All your projects, with their variables and secrets.',
    'All your tasks, with their chats, output, images and diffs. What runs is stopped.',
    'Branches that your tasks pushed, unless a pull request is open or others have pushed to them.',
    'Your profile, all your sessions, and the access to your repositories.',
  ],
  stays: 'Your repositories and pull requests stay at the code host, and so do merged commits.',
  confirm: (word: string) => `Type ${word} to confirm`,
  keep: 'Keep account',
  delete: 'Delete account',
  deleting: 'Deleting...',
  notDeleted: 'The account could not be deleted',
} as const

export const sessionTexts = {
  heading: 'Sessions',
  current: 'This browser',
  unknown: 'Unknown browser',
  started: (age: string) => `Signed in ${age.toLowerCase()}`,
  end: 'Sign out',
  endOf: (name: string) => `Sign out ${name}`,
  everywhere: 'Sign out everywhere',
  title: 'Sign out everywhere?',
  lead: (count: number) =>
    count > 1
      ? `This ends all ${count} sessions, including this one. Running tasks continue.`
      : 'This ends your session in this browser. Running tasks continue.',
  cancel: 'Cancel',
  ending: 'Signing out...',
  notFetched: "Couldn't load your sessions.",
  notEnded: "Couldn't sign out",
  again: 'Try again',
} as const
