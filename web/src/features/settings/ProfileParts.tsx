/**
 * The parts of the profile that are read from the server. They appear together, once every read has ended, because a part that grows later would move
 * the parts below it away from a click.
 */
import { useState } from 'react'
import type { User } from '#domain/api/auth.schema.ts'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { McpServersPart } from '../mcp/McpServersPart.tsx'
import { useMcpServersQuery } from '../mcp/mcpApi.ts'
import { AgentsPart } from './AgentsPart.tsx'
import { useAgentKeysQuery } from './agentKeysApi.ts'
import { DeleteAccountPart } from './DeleteAccountPart.tsx'
import { InstructionsPart } from './InstructionsPart.tsx'
import { useInstructionsQuery } from './instructionsApi.ts'
import { SessionsPart } from './SessionsPart.tsx'
import { useSessionsQuery } from './settingsApi.ts'
import { texts } from './texts.ts'

export function ProfileParts({ user }: { readonly user: User }) {
  const reads = [
    useAgentsQuery(),
    useAgentKeysQuery(),
    useInstructionsQuery(),
    useMcpServersQuery(null),
    useSessionsQuery(undefined, { refetchOnMountOrArgChange: true }),
  ]
  // Once shown, the parts stay, also while one of them is read again.
  const [areShown, setShown] = useState(false)
  if (!areShown && reads.every(({ isLoading }) => !isLoading)) setShown(true)
  return (
    <>
      {!areShown && (
        <Skeletons label={texts.loadingParts} className="mt-8" each={['h-40 w-full', 'mt-8 h-40 w-full']} />
      )}
      {/* Hidden, not left out: a part that is mounted later would repeat the requests that failed. */}
      <div hidden={!areShown}>
        <AgentsPart />
        <InstructionsPart />
        <div className="mt-8">
          <McpServersPart owner={null} />
        </div>
        <SessionsPart />
        <DeleteAccountPart user={user} />
      </div>
    </>
  )
}
