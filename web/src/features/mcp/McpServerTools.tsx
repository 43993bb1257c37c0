/** The tools of a remote MCP server: signs in there, tests the server, and switches its tools on and off. */
import type { McpSignIn, ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { McpServerSignIn } from './McpServerSignIn.tsx'
import { useTestMcpServerMutation, type McpOwner } from './mcpApi.ts'
import { faults, texts } from './texts.ts'

interface McpServerToolsProps {
  readonly owner: McpOwner
  readonly server: Extract<ShownMcpServer, { kind: 'remote' }>
  readonly signIn: McpSignIn | undefined
  readonly busy: boolean
  readonly onSwitch: (toolsOff: string[]) => void
}

export function McpServerTools({ owner, server, signIn, busy, onSwitch }: McpServerToolsProps) {
  const [run, { data, error, isLoading }] = useTestMcpServerMutation()
  const { id, name, toolsOff, auth } = server
  const of = { owner, serverId: id }
  // Without a sign-in there is nothing to test, and the results of earlier tests no longer count.
  const isUsable = auth.kind !== 'oauth' || signIn?.isEnded === false
  const test = isUsable ? data?.test : undefined
  const onChange = (tool: string, isOn: boolean) =>
    onSwitch(isOn ? toolsOff.filter((off) => off !== tool) : [...toolsOff, tool])
  return (
    <div className="mt-1 mb-2 grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {auth.kind === 'oauth' && <McpServerSignIn of={of} name={name} signIn={signIn} />}
        {isUsable && (
          <Button
            size="touch"
            busy={isLoading}
            busyLabel={texts.testing}
            aria-label={texts.testOf(name)}
            onClick={() => void run(of)}
          >
            {texts.test}
          </Button>
        )}
      </div>
      {error !== undefined && <Note kind="error">{reasonOf(error, faults.notTested)}</Note>}
      {test?.kind === 'failed' && <Note kind="error">{test.reason}</Note>}
      {test?.kind === 'connected' && (
        <div role="status">
          <p className="text-ui text-muted">{texts.connected(test.tools.length)}</p>
          <ul className="max-h-80 overflow-y-auto">
            {test.tools.map((tool) => (
              <li key={tool.name}>
                <Checkbox
                  checked={!toolsOff.includes(tool.name)}
                  busy={busy}
                  onChange={(isOn) => onChange(tool.name, isOn)}
                >
                  <span className="min-w-0 wrap-anywhere">
                    <span className="font-mono text-code">{tool.name}</span>{' '}
                    <span className="text-muted">{tool.description}</span>
                  </span>
                </Checkbox>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
