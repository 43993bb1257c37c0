/** What the page says that asks whether a sign-in is wanted. Apart, since hardly anybody sees it. */
export const confirmTexts = {
  title: (name: string) => `Sign in as ${name}?`,
  why: 'This sign-in did not start in this tab. Someone may have sent you a link to their own account, where they can see everything you do. Continue only if this account is yours.',
  now: (name: string) => `You are signed in as ${name}.`,
  stay: (name: string) => `Stay signed in as ${name}`,
  otherWay: 'Go to Sign-In',
  take: (name: string) => `Continue as ${name}`,
  failedTitle: 'This sign-in link does not work',
  over: 'The link has expired. Sign in again.',
  unreachable: "Couldn't check which account this is.",
} as const
