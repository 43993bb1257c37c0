/** The person's own keys for the models of agents. */
import { useState } from 'react'
import { isSubscriptionToken, type KeyKind } from '#domain/agentKeys.ts'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { KeySlot } from '../agents/KeySlot.tsx'
import { keyTexts, providers } from '../agents/keyTexts.ts'
import { useAgentKeysQuery, useSetAgentKeyMutation } from './agentKeysApi.ts'
import { agentKeyTexts as texts } from './texts.ts'

export function OwnKeys() {
  const read = useAgentKeysQuery()
  const { data } = read
  return (
    <Panel label={texts.keys} className="mt-4 px-5 py-4">
      <h3 className="font-semibold">{texts.keys}</h3>
      {texts.why.map((sentences) => (
        <p key={sentences} className="mt-1 max-w-[72ch] text-ui text-muted">
          {sentences}
        </p>
      ))}
      {data === undefined && <RetryNote read={read}>{texts.notFetched}</RetryNote>}
      {data !== undefined && (
        <div className="mt-2 divide-y divide-line-soft">
          {providers.map((provider) => (
            <OwnKey
              key={provider.name}
              provider={provider}
              stored={data.keys.find((known) => known.provider === provider.name)}
            />
          ))}
        </div>
      )}
    </Panel>
  )
}

interface OwnKeyProps {
  readonly provider: (typeof providers)[number]
  readonly stored: Parameters<typeof KeySlot>[0]['stored']
}

function OwnKey({ provider: { name, label }, stored }: OwnKeyProps) {
  const [set] = useSetAgentKeyMutation()
  const [kind, setKind] = useState<KeyKind>('api_key')
  const isToken = kind === 'subscription'
  return (
    <KeySlot
      name={label}
      stored={stored}
      none={texts.none}
      removeWhy={texts.removeWhy}
      valueLabel={isToken ? keyTexts.token : keyTexts.value}
      valueHelp={isToken ? texts.tokenHelp : undefined}
      onSet={async (value) => {
        // A value in the form of a subscription token is stored as a subscription token, whichever kind the person chose.
        const meant =
          value !== null && name === 'anthropic' && isSubscriptionToken(value) ? 'subscription' : kind
        const answer = await set({ provider: name, kind: meant, value })
        return answer.error === undefined
          ? { stored: answer.data.keys.find((known) => known.provider === name) }
          : { error: answer.error }
      }}
    >
      {name === 'anthropic' && (
        <Segmented
          label={texts.kind}
          options={[
            { value: 'api_key', label: texts.kinds.api_key },
            { value: 'subscription', label: texts.kinds.subscription },
          ]}
          chosen={kind}
          onChoose={setKind}
          className="w-full md:w-auto md:justify-self-start"
        />
      )}
    </KeySlot>
  )
}
