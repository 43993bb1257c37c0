/** Texts of the sign-in pages. */
export const texts = {
  headline: 'Run CLI Coding Agents in the Cloud',
  benefits: [
    {
      lead: 'Run several agents in parallel.',
      rest: 'One repository or ten; each task gets its own branch.',
    },
    {
      lead: 'Nothing to install and maintain.',
      rest: 'Claude, Cursor and Codex without several command-line tools and API keys.',
    },
    { lead: 'Free to get started.', rest: 'Sign in and describe the first task.' },
    { lead: 'A first pull request within minutes', rest: 'through the GitHub integration.' },
  ],
  title: 'Welcome Back',
  subtitle: 'Login with GitHub to continue',
  installed: 'If you have just installed the App, that is done. Sign in to work on its repositories.',
  button: 'Continue with GitHub',
  connecting: 'Connecting...',
  completing: 'Completing authentication...',
  pageTitle: 'Sign in',
  notLoaded: "Couldn't load your account.",
  unreachable: "Can't reach Flightdeck",
  unreachableWhy: 'The server could not be reached. Check your connection and try again.',
  tryAgain: 'Try Again',
  another: 'Use Another Account',
  logoutFailed: "Couldn't end the session on the server.",
} as const

const signInErrors: Readonly<Record<string, string>> = {
  github: 'GitHub authentication failed. Please try again.',
  server: 'Server error occurred during authentication.',
  no_install_id: 'GitHub App installation failed.',
  session_lost: 'Session expired. Please try again.',
  user_not_found: 'User not found. Please try again.',
  install_callback: 'GitHub App installation callback failed.',
  not_allowed: 'This account does not have access to this server. Ask its administrator for access.',
}

/** The message for an `error` in the address; a general one for an unknown value. */
export function signInError(value: string): string {
  return Object.hasOwn(signInErrors, value)
    ? (signInErrors[value] ?? '')
    : 'Authentication failed. Please try again.'
}
