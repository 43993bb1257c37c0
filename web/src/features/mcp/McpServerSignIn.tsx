/** Shows whether somebody is signed in at a remote MCP server, with buttons to sign in and out. */
import { TriangleAlert } from 'lucide-react'
import type { McpSignIn } from '#domain/api/mcpServers.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { shortDate } from '../../ui/text/times.ts'
import { useBeginMcpSignInMutation, useEndMcpSignInMutation, type ServerOfOwner } from './mcpApi.ts'
import { faults, signInTexts as texts } from './texts.ts'

const signedInAt = ({ issuer, since }: McpSignIn) =>
  texts.signedIn(issuer, `${shortDate(since)}, ${new Date(since).getFullYear()}`)

interface McpServerSignInProps {
  readonly of: ServerOfOwner
  readonly name: string
  readonly signIn: McpSignIn | undefined
}

/** Shows the sign-in's state on a line of its own, then its buttons, which precede the other buttons of the row. */
export function McpServerSignIn({ of, name, signIn }: McpServerSignInProps) {
  const [begin, begun] = useBeginMcpSignInMutation()
  const [end, ended] = useEndMcpSignInMutation()
  const onBegin = async () => {
    const { data } = await begin(of)
    if (data !== undefined) location.assign(data.url)
  }
  const error = begun.error ?? ended.error
  const label = signIn === undefined ? texts.signIn : texts.signInAgain
  return (
    <>
      {signIn?.isEnded === true ? (
        <p className="flex basis-full gap-1.5 text-ui text-warn">
          <TriangleAlert className="mt-0.5 flex-none" />
          <span className="min-w-0 wrap-anywhere">{texts.ended(signIn.issuer)}</span>
        </p>
      ) : (
        <p className="basis-full text-ui wrap-anywhere text-muted">
          {signIn === undefined ? texts.none : signedInAt(signIn)}
        </p>
      )}
      <Button
        size="touch"
        busy={begun.isLoading}
        busyLabel={texts.beginning}
        aria-label={`${label}: ${name}`}
        onClick={() => void onBegin()}
      >
        {label}
      </Button>
      {signIn !== undefined && (
        <Button
          size="touch"
          busy={ended.isLoading}
          busyLabel={texts.ending}
          aria-label={`${texts.signOut}: ${name}`}
          onClick={() => void end(of)}
        >
          {texts.signOut}
        </Button>
      )}
      {error !== undefined && (
        <Note kind="error" className="order-last basis-full">
          {reasonOf(error, faults.notSignedIn)}
        </Note>
      )}
    </>
  )
}
