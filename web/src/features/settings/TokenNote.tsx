/** For single-user mode: which kind of token this server uses, and its limits. */
import type { TokenKind } from '#domain/codeHostToken.ts'
import { tokenTexts as texts } from './tokenTexts.ts'

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
