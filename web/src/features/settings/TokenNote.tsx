/** A note for single-user mode: which kind of token this server uses, and the limits of that kind. */
import type { TokenKind } from '#domain/codeHostToken.ts'

const scopes = 'It needs the scopes repo, read:org and, to change workflow files, workflow.'
const runsOut = 'It may run out within hours, and is not renewed: start the server with a new one then.'

const texts = {
  title: 'Your own token',
  why: (kind: string) =>
    `This server has no GitHub App. It acts with the token in GITHUB_TOKEN: ${kind}. To end its access, delete the token on GitHub.`,
  kinds: {
    classic: 'a classic personal access token',
    fine_grained: 'a fine-grained personal access token',
    oauth: 'a token of an OAuth app',
    app_user: 'a token that a GitHub App was given for you',
    installation: 'a token of an installation',
    other: 'a token of unknown kind',
  } satisfies Record<TokenKind, string>,
  /** The limits of each kind of token. Limits that all kinds share are in `limits`. */
  limitsOf: {
    classic: [scopes],
    fine_grained: [
      'GitHub does not let it read checks: failed checks are not shown and not fixed.',
      'It reaches only the repositories of one owner that were chosen when it was made.',
    ],
    oauth: [scopes],
    app_user: [runsOut],
    installation: [],
    other: [],
  } satisfies Record<TokenKind, readonly string[]>,
  limits: [
    'There are no installations: git and readers use this token too, and its rate limit.',
    'GitHub sends no webhooks by itself: pull requests are read every few seconds while you look at them.',
  ],
} as const

export function TokenNote({ kind }: { readonly kind: TokenKind }) {
  return (
    <section className="mt-8">
      <h2 className="font-semibold">{texts.title}</h2>
      <p className="mt-1 mb-3 max-w-[62ch] text-ui text-muted">{texts.why(texts.kinds[kind])}</p>
      <ul className="list-disc pl-5 text-ui text-muted">
        {[...texts.limitsOf[kind], ...texts.limits].map((sentence) => (
          <li key={sentence} className="py-1">
            {sentence}
          </li>
        ))}
      </ul>
    </section>
  )
}
