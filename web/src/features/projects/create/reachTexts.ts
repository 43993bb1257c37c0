/** Texts about repositories that the App does not reach. Only the import loads them, so they are apart from the other texts of projects. */
export const reachTexts = {
  notSeen: "Don't see your repository?",
  installApp: 'Install the App',
  notSeenWhy: 'where it is. An owner of the organization may have to approve that.',
  changeApp: 'Change what the App can access',
  changeAppWhy: 'in its account. It is private, so no other account can install it.',
  reach: {
    not_installed: (owner: string) =>
      `The App is not installed for ${owner}. Agents can read this repository, but their work cannot be pushed to it.`,
    not_selected: (owner: string) =>
      `The App is installed for ${owner}, but not for this repository. Agents can read it as far as you can, but their work cannot be pushed to it.`,
    suspended: (owner: string) =>
      `The installation of the App for ${owner} is suspended. Agents' work cannot be pushed until it is active again.`,
  },
  readOnly:
    'Your GitHub account may only read this repository. Agents can work on it, but their work cannot be pushed.',
  changeAccess: 'Change Access',
} as const
