/** A part of the settings, with its title and explanation. */
import type { ReactNode } from 'react'
import type { ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { Panel } from '../../../ui/layout/Panel.tsx'

/** The project and its settings, as props of every part. */
export interface PartOfProject {
  readonly projectId: string
  readonly settings: ShownSettings
}

interface PartProps {
  readonly title: string
  readonly why: string
  readonly children: ReactNode
}

export function Part({ title, why, children }: PartProps) {
  return (
    <Panel label={title} className="mb-6 grid grid-cols-1 gap-4 p-5">
      <div>
        <h2 className="font-semibold">{title}</h2>
        <p className="mt-1 max-w-[72ch] text-ui text-muted">{why}</p>
      </div>
      {children}
    </Panel>
  )
}
