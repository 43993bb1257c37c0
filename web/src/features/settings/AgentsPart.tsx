/** The agents of this server, what is missing for each of them, and the person's own keys for their models. */
import { agentNamed } from '#domain/agents.ts'
import type { AgentState } from '#domain/api/server.schema.ts'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { OwnKeys } from './OwnKeys.tsx'
import { agentKeyTexts as texts } from './texts.ts'

export function AgentsPart() {
  const { data } = useAgentsQuery()
  return (
    <section className="mt-8">
      <h2 className="mb-3 font-semibold">{texts.title}</h2>
      {data !== undefined && (
        <Panel label={texts.agents} className="divide-y divide-line-soft">
          {data.agents.map((agent) => (
            <Agent key={agent.name} agent={agent} />
          ))}
        </Panel>
      )}
      <OwnKeys />
    </section>
  )
}

function Agent({ agent: { name, version, missing, keyInSandbox } }: { readonly agent: AgentState }) {
  return (
    <div className="flex gap-3 px-5 py-3.5">
      <AgentMark agent={name} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap gap-x-2">
          <span className="font-medium">{agentNamed(name).label}</span>
          {version !== null && <span className="text-muted">{version}</span>}
          {missing === null && <span className="font-medium text-ok">{texts.ready}</span>}
        </p>
        {missing !== null && <p className="text-ui text-muted">{missing}</p>}
        {keyInSandbox && <p className="text-ui text-muted">{texts.keyInSandbox}</p>}
      </div>
    </div>
  )
}
