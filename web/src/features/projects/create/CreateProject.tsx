/** The page for a new project, from an existing or a new repository. */
import { useState } from 'react'
import { usePageTitle } from '../../tasks/usePageTitle.ts'
import { Page } from '../../../ui/layout/Page.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { ImportRepository } from './ImportRepository.tsx'
import { NewRepository } from './NewRepository.tsx'
import { texts } from '../texts.ts'

const modes = [
  { value: 'import', label: texts.create.import },
  { value: 'new', label: texts.create.new },
] as const

export function CreateProject() {
  usePageTitle(texts.create.title)
  const [mode, setMode] = useState<'import' | 'new'>('import')
  return (
    <Page title={texts.create.title} width="narrow">
      <Segmented
        label={texts.create.mode}
        options={modes}
        chosen={mode}
        onChoose={setMode}
        className="mb-4 w-full md:w-auto"
      />
      {mode === 'import' ? <ImportRepository /> : <NewRepository />}
    </Page>
  )
}
