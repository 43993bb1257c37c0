/** Texts about MCP servers. */
import { agents } from '#domain/agents.ts'

const takers = agents.filter(({ can }) => can.includes('mcp')).map(({ label }) => label)
const usedBy = `Used by ${new Intl.ListFormat('en-GB').format(takers)}; other agents take no MCP servers.`

export const texts = {
  title: 'MCP Servers',
  why: {
    project: `Tools for the agents of this project. Remote servers are reached from outside the sandbox, and their credential never enters it. Local servers run inside the sandbox, and the agent can read the secrets they get. ${usedBy}`,
    own: `Tools for the agents of all your tasks, beside those of each project. If both have a server of the same name, the project's is used. ${usedBy}`,
  },
  loading: 'Loading MCP servers...',
  none: 'No MCP servers yet.',
  again: 'Try Again',
  add: 'Add Server',
  edit: (name: string) => `Edit ${name}`,
  use: (name: string) => `Use ${name}`,
  used: 'Use',
  remove: (name: string) => `Remove ${name}`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeWhy: 'Agents no longer get its tools. A stored header value or sign-in is deleted permanently.',
  removeNow: 'Remove Server',
  removing: 'Removing...',
  keep: 'Cancel',
  kinds: { remote: 'Remote', local: 'Local' },
  kind: 'Kind of server',
  name: 'Name',
  nameHelp: 'Part of the names of its tools.',
  url: 'Address',
  urlHelp: 'A server that speaks streamable HTTP.',
  auth: 'Credential',
  auths: { none: 'None', header: 'Header', oauth: 'Sign-In' },
  clientId: 'Client ID (optional)',
  clientIdHelp: (callback: string) =>
    `Only if the server's operator gave you one, made for ${callback}. Otherwise Flightdeck registers itself. You sign in once the server is saved.`,
  headerName: 'Header',
  headerValue: 'Value',
  headerKept: 'Leave empty to keep the stored value. Values are write-only.',
  headerNew: '8 characters at least, such as Bearer and a token. Values are write-only.',
  command: 'Command',
  args: 'Arguments',
  argsHelp: 'One per line.',
  secrets: 'Secrets of the project',
  secretsHelp: 'Names, separated by commas. The server gets them as variables, and the agent can read them.',
  toolsOff: 'Tools that are off',
  toolsOffHelp: 'Names, separated by commas. A test of a remote server lists its tools.',
  save: 'Save Server',
  saving: 'Saving...',
  saved: 'MCP servers saved',
  test: 'Test',
  testOf: (name: string) => `Test ${name}`,
  testing: 'Testing...',
  connected: (count: number) => `Connected. ${count === 1 ? '1 tool' : `${count} tools`}:`,
  suggested:
    'The repository suggests these servers in its .mcp.json. Nothing of them is used until you add them.',
  addSuggested: (name: string) => `Add ${name}`,
  addShort: 'Add',
}

/** Texts about signing in at a remote server. */
export const signInTexts = {
  title: 'MCP Sign-In',
  none: 'Not signed in. Agents get its tools once you are.',
  signedIn: (issuer: string, since: string) => `Signed in at ${issuer} since ${since}.`,
  ended: (issuer: string) => `The sign-in at ${issuer} has ended. Agents don't get its tools.`,
  signIn: 'Sign In',
  signInAgain: 'Sign In Again',
  beginning: 'Opening...',
  signOut: 'Sign Out',
  ending: 'Signing out...',
  finishing: 'Finishing the sign-in...',
  done: (name: string) => `Signed in to ${name}`,
  toProjects: 'Projects',
  toSettings: 'Settings',
}

/** The messages of failed calls. */
export const faults = {
  notFetched: 'Failed to fetch MCP servers',
  notSaved: 'Failed to save MCP servers',
  notSignedIn: 'Failed to sign in to the MCP server',
  notSignedOut: 'Failed to sign out of the MCP server',
  notTested: 'Failed to test the MCP server',
} as const
