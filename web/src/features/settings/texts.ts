import type { LinkError } from '#domain/api/auth.ts'
import type { InstallationOfPerson } from '#domain/api/github.schema.ts'
import { grouped } from '../../ui/layout/Stats.tsx'
import { signInError } from '../auth/texts.ts'

export const texts = {
  pageTitle: 'Settings',
  loadingParts: 'Loading your settings',
  tabs: { label: 'Settings', profile: 'Profile', github: 'GitHub' },
  personal: 'Personal Information',
  fullName: 'Full Name',
  email: 'Email Address',
  update: 'Update Profile',
  updating: 'Updating...',
  updated: 'Profile updated successfully',
  notUpdated: 'Failed to update profile',
  updateFailed: 'Profile update failed',
  appearance: 'Appearance',
  theme: 'Theme',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  connectTitle: 'Connect GitHub Account',
  connectWhy: 'Flightdeck reads your repositories and opens pull requests through your GitHub account.',
  connect: 'Connect GitHub',
  connecting: 'Connecting...',
  connected: 'Connected to GitHub',
  disconnect: 'Disconnect',
  disconnecting: 'Disconnecting...',
  disconnectTitle: 'Disconnect GitHub?',
  disconnectWhy:
    "Flightdeck will lose access to your repositories. Your projects and tasks are kept, but agents can't fetch or push until you reconnect.",
  keep: 'Cancel',
  disconnected: 'GitHub account disconnected successfully',
  notDisconnected: 'Failed to disconnect GitHub account',
  disconnectFailed: 'Failed to disconnect GitHub',
  notFetched: 'Failed to fetch GitHub data',
  partMissing: 'Some details from GitHub are missing.',
  tryAgain: 'Try Again',
  counts: {
    repositories: 'Accessible Repositories',
    organizations: 'Organizations',
    publicRepositories: 'Public Repositories',
  },
  access: 'Repository Access',
  accessWhy:
    'Flightdeck can access the repositories its GitHub App is installed on. Install the app in another organization, or change which repositories it can access.',
  accessWhyPrivate:
    'Flightdeck can access the repositories its GitHub App is installed on. Its owner can change which these are.',
  noApp:
    'This server uses no GitHub App. Flightdeck reaches what your own access to GitHub reaches, and nothing needs to be installed.',
  install: 'Install App in More Organizations',
  installFirst: 'Install the App',
  isPrivate:
    'The App is private: only the account that owns it can install it. Its owner can make it public on GitHub, on the page of the App under Advanced.',
  manage: 'Manage App Installations',
  refresh: 'Refresh',
  refreshing: 'Refreshing...',
  help: [
    'Organization owners must approve the installation.',
    'You can request access, or install the app yourself if you are permitted to.',
  ],
  newOnes: 'New repositories become available when creating projects.',
  unknown: 'Unknown',
} as const

const linkErrors: Readonly<Record<LinkError, string>> = {
  account_taken:
    'This GitHub account is linked to another Flightdeck account. Sign in with it, or connect a different one.',
  account_differs:
    'Your Flightdeck account is linked to a different GitHub account. Sign in to that one on GitHub, then connect again.',
}

/** The message for the `error` in the address after an account was not connected; every value has one. */
export function linkError(value: string): string {
  const known = Object.entries(linkErrors).find(([error]) => error === value)
  return known ? known[1] : signInError(value)
}

const whoGrants = (account: string, isOrganization: boolean): string =>
  isOrganization ? `An owner of ${account}` : `The owner of the account ${account}`

export const installationTexts = {
  title: 'Installations',
  loading: 'Loading the installations',
  notFetched: 'Failed to fetch the installations of the App',
  none: 'The App is not installed in an account of yours yet.',
  more: (count: number) => `${count} more not shown here.`,
  installed: (account: string) => `The App is installed for ${account}`,
  next: 'Next: make a project of one of its repositories.',
  createProject: 'Create Project',
  notYours: 'Your GitHub account has no such installation.',
  configure: 'Configure',
  review: 'Review on GitHub',
  configureOf: (account: string) => `Configure the installation for ${account}`,
  repositories: ({ repositories, count }: Pick<InstallationOfPerson, 'repositories' | 'count'>) => {
    const which = repositories === 'all' ? 'All repositories' : 'Selected repositories'
    return count === null ? which : `${which} (${grouped(count)})`
  },
  suspended: (account: string, isOrganization: boolean) =>
    `Suspended. ${whoGrants(account, isOrganization)} can lift that on GitHub.`,
  missing: (missing: InstallationOfPerson['missing'], account: string, isOrganization: boolean) =>
    `Not granted: ${missing.map(({ name, level }) => `${name} (${level})`).join(', ')}. ${whoGrants(account, isOrganization)} can grant it on GitHub.`,
  waiting: (account: string) => `Waiting for an owner of ${account}.`,
  waitingForSomebody: 'Waiting for an owner of the organization.',
} as const

export const agentKeyTexts = {
  title: 'Agents and Keys',
  agents: 'Agents',
  ready: 'Ready',
  keyInSandbox:
    "Its API key is passed into the sandbox. Anything that runs there, including your repository's code, can read it. It takes no key of your own.",
  keys: 'Your Own Keys',
  why: [
    "Your runs use your own key first, then the project's, then the server's. The key stays outside the sandbox, is never shown again, and only your runs use it. The server's budgets do not limit what you pay.",
    'A ChatGPT plan cannot be used: Codex signs in to one on a device of its own, which Flightdeck does not support. Codex needs an API key.',
  ],
  none: "No key of your own: the project's or the server's is used.",
  kind: 'Kind of key',
  kinds: { api_key: 'API Key', subscription: 'Subscription' },
  tokenHelp:
    'Run claude setup-token on your machine, sign in, and paste what it prints. It begins with sk-ant-oat.',
  removeWhy:
    "It is deleted permanently. Your next runs use the project's key or the server's; where there is none, the agent cannot run.",
  notFetched: 'Failed to fetch your keys',
} as const

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

export const adminTexts = {
  heading: 'Administration',
  why: 'You are an administrator of this server. The audit log shows who did what on it; the rights page shows what its App may do at GitHub, and what GitHub told it.',
  open: 'Open Audit Log',
  openRights: 'Open GitHub Rights',
} as const

export const instructionTexts = {
  heading: 'Instructions and Commands',
  why: "Every agent that works for you reads these, before a repository's own instructions. A change counts from your next message.",
  instructions: 'Instructions',
  placeholder: 'For example: answer briefly, and run the tests before you finish.',
  help: 'Markdown, up to 16 KiB.',
  commands: 'Your commands',
  commandsHelp:
    "Type / in a message to use one. A repository's command of the same name is used instead of yours.",
  name: 'Name',
  description: 'Description',
  text: 'What the agent is told ($ARGUMENTS stands for what follows the name)',
  add: 'Add Command',
  remove: 'Remove',
  removeNamed: (name: string) => (name === '' ? 'Remove command' : `Remove /${name}`),
  save: 'Save Instructions',
  saving: 'Saving...',
  saved: 'Instructions saved',
  notSaved: 'Failed to save instructions',
  notFetched: 'Failed to fetch instructions',
} as const
