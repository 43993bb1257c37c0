/** What the page says that asks whether a sign-in is wanted. Apart, since hardly anybody sees it. */
export const confirmTexts = {
  title: (name: string) => `Sign in as ${name}?`,
  why: 'This sign-in did not begin in this tab. Somebody may have sent you a link to their own account: whatever you do there, they can see. Continue only if this account is yours.',
  now: (name: string) => `You are signed in as ${name}.`,
  stay: (name: string) => `Stay signed in as ${name}`,
  otherWay: 'Go to the sign-in page',
  take: (name: string) => `Continue as ${name}`,
  failedTitle: 'This sign-in cannot be used',
  over: 'It is no longer valid. Sign in again.',
  unreachable: 'The server could not be asked whose account it is.',
} as const
