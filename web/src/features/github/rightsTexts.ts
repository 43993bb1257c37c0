/** Texts of the page about the App's rights. */
import type { DeliveryEffect } from '#domain/api/github.ts'
import type { PermissionRow } from '#domain/api/github.schema.ts'

type Level = NonNullable<PermissionRow['wanted']>
type Named = readonly { readonly name: string; readonly level: Level }[]

const listed = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
const ownerOf = (account: string, isOrganization: boolean): string =>
  isOrganization ? `An owner of ${account}` : `Its owner ${account}`
const named = (permissions: Named): string =>
  permissions.map(({ name, level }) => `${name} (${level})`).join(', ')

export const texts = {
  title: 'GitHub Rights',
  lead: 'What the App of this server may do at GitHub, where it is installed, and what came of what GitHub told it.',
  leadOf: (name: string) =>
    `What the App ${name} may do at GitHub, where it is installed, and what came of what GitHub told it.`,
  notAdmin: 'Only the administrators of this server see the rights of its App.',
  refresh: 'Refresh',
  refreshing: 'Refreshing...',
  loading: 'Loading what GitHub tells of the App',
  notFetched: 'Failed to fetch what GitHub tells of the App',
  none: {
    title: 'There is no App',
    why: 'Flightdeck works with the access of people alone. With an App it has rights of its own, and GitHub tells it at once what happens.',
    singleUser: 'This server is in single-user mode: it works with the token of its owner, and needs no App.',
    local: 'The local code host knows no GitHub Apps: everybody works there with their own access.',
    setup: 'Set Up the App',
  },
  noKey:
    'The private key of the App is not configured. People sign in with it, but Flightdeck has no rights of its own, and GitHub tells nothing of the App.',
  openApp: 'Open on GitHub',
  permissions: {
    title: 'Permissions',
    columns: ['Permission', 'Wanted', 'App asks for', 'Granted'],
    optional: 'optional',
    unused: 'not needed',
    nothing: 'Not asked for',
    missing: (permissions: Named) => `The App does not ask for ${named(permissions)}.`,
    missingEvents: (events: readonly string[]) => `GitHub does not tell it of ${listed(events)}.`,
    whoChanges: (account: string, isOrganization: boolean) =>
      `${ownerOf(account, isOrganization)} can change it; then each installation has to accept it.`,
    change: 'Change Permissions',
    grantedBy: {
      all: 'Everywhere',
      none: 'Nowhere',
      notIn: (accounts: readonly string[]) => `Not in ${listed(accounts)}`,
      unknown: 'Unknown',
      noInstallation: 'No installation',
    },
  },
  installations: {
    title: 'Installations',
    columns: ['Account', 'Repositories', 'State', 'Change'],
    empty: 'The App is not installed anywhere yet.',
    install: 'Install the App',
    all: 'All',
    selected: 'Selected',
    suspended: (day: string) => `Suspended since ${day}`,
    missing: (permissions: Named) => `Not granted: ${named(permissions)}`,
    complete: 'Complete',
    requestedBy: (requester: string) => `Asked for by ${requester}, waits for an owner`,
    configure: 'Configure',
    configureOf: (account: string) => `Configure the installation for ${account}`,
    more: (count: number) => `${count} more not shown here.`,
  },
  limits: {
    title: 'Requests Left',
    columns: ['Whose', 'Left', 'Of', 'Resets at (UTC)'],
    empty: 'GitHub tells of no limit.',
    installation: (account: string) => `Installation for ${account}`,
    own: (login: string) => `You, as ${login}`,
  },
  deliveries: {
    title: 'Last Deliveries',
    columns: ['Time (UTC)', 'Event', 'At GitHub', 'Effect'],
    empty:
      'GitHub has delivered nothing in the last days. Without a webhook, Flightdeck asks GitHub by itself.',
    failedLater: 'GitHub tries each once. What failed and matters is fetched within ten minutes.',
    delivered: 'Delivered',
    notDelivered: 'Not delivered',
    fetched: 'Handled, fetched later',
    effects: {
      handled: 'Handled',
      repeated: 'Repeated, no second effect',
      ignored: 'Ignored, leads to nothing',
      failed: 'Failed',
      unknown: 'Not in the log',
    } satisfies Record<DeliveryEffect, string>,
  },
} as const
