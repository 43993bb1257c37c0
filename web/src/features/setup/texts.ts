/** Texts of the page that connects Flightdeck to a GitHub App. */
import type { SetupError } from '#domain/api/setup.ts'

export const texts = {
  title: 'Connect Flightdeck to GitHub',
  lead: 'Flightdeck works on your repositories as a GitHub App of your own. GitHub shows you everything before the App is made.',
  doneTitle: 'Flightdeck is set up',
  done: 'There is nothing left to do on this page.',
  made: 'The App is made. Install it where your repositories are, then sign in.',
  install: 'Install the App',
  signIn: 'Sign in',
  notFetched: 'The set-up could not be loaded.',
  notBegun: 'The set-up could not be started.',
  again: 'Try again',
  noCode:
    'Only whoever runs this server can set it up. Open the address that the server printed when it started: it ends with a code. The code is also in the file setup-code of its data folder.',
  owner: 'Who owns the App',
  owners: { person: 'My account', organization: 'An organization' },
  organization: 'Organization on GitHub',
  organizationHelp: 'Its name in addresses. You must be an owner of it, or manage its Apps.',
  name: 'Name of the App',
  nameHelp: 'No other App on GitHub may have it. At most 34 characters.',
  address: 'Address of this server',
  addressHelp: 'Where you and your team reach it. GitHub sends people back there.',
  fixedAddress: 'Set by the operator of this server.',
  options: 'Options',
  hooks: 'GitHub can reach this address',
  hooksWhy:
    'From the internet. It then tells at once what happens to a pull request; otherwise it is asked every 30 seconds.',
  isPublic: 'Other accounts may install it too',
  isPublicWhy:
    'Needed for several organizations, or for repositories of members. Who may sign in here stays the same.',
  workflows: 'Change workflow files',
  workflowsWhy: 'Without it work that touches .github/workflows cannot be pushed.',
  members: 'Read who is in your organizations',
  membersWhy: 'Only needed to let in people by organization or team.',
  signInFirst:
    'First sign in to GitHub in this browser: on the way over its sign-in page, what this form sends is lost.',
  openHost: 'Open GitHub',
  create: 'Create on GitHub',
  creating: 'Opening GitHub',
  errors: {
    session_lost: 'This page was open for too long, or the answer belongs to another one.',
    code_expired: 'GitHub no longer knows the App by this code: it counts once, within an hour.',
    refused: 'GitHub refused to hand over the App.',
    unavailable: 'GitHub could not be reached. The App waits there for an hour: try again in a moment.',
  } satisfies Record<SetupError, string>,
  otherError: 'The App was not made.',
  /** `name` is the name of the App; `null` when this tab does not know it. */
  unfinished: (name: string | null): string =>
    `Before you start again, remove the unfinished App${name === null ? '' : ` ${name}`} at GitHub, if it is there: Settings, Developer settings, GitHub Apps.`,
}
