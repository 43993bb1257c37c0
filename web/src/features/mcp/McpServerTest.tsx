/** Tests a remote MCP server, and switches its tools on and off. */
import type { ShownMcpServer } from '#domain/api/mcpServers.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Checkbox } from '../../ui/form/Choice.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { useTestMcpServerMutation, type McpOwner } from './mcpApi.ts'
import { faults, texts } from './texts.ts'

interface McpServerTestProps {
  readonly owner: McpOwner
  readonly server: ShownMcpServer
  readonly busy: boolean
  readonly onSwitch: (toolsOff: string[]) => void
}

export function McpServerTest({ owner, server, busy, onSwitch }: McpServerTestProps) {
  const [run, { data, error, isLoading }] = useTestMcpServerMutation()
  const { id, name, toolsOff } = server
  const test = data?.test
  const onChange = (tool: string, isOn: boolean) =>
    onSwitch(isOn ? toolsOff.filter((off) => off !== tool) : [...toolsOff, tool])
  return (
    <div className="mb-2 grid gap-2">
      <div>
        <Button
          busy={isLoading}
          busyLabel={texts.testing}
          aria-label={texts.testOf(name)}
          onClick={() => void run({ owner, serverId: id })}
        >
          {texts.test}
        </Button>
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
                  onChange={(isOn) => !busy && onChange(tool.name, isOn)}
                >
                  <span className="min-w-0 wrap-anywhere">
                    <span className="font-mono text-typed">{tool.name}</span>{' '}
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
