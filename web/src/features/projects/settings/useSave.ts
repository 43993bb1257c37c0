/** Saves a part of the settings, and shows the outcome as a notification. */
import { useDispatch } from 'react-redux'
import type { BodyInputOf } from '#domain/api/call.schema.ts'
import type { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { notifiedOutcome } from '../../notifications/notifications.ts'
import { useUpdateProjectSettingsMutation } from './projectSettingsApi.ts'
import { faults } from './faultTexts.ts'
import { texts } from './texts.ts'

export type SettingsChange = BodyInputOf<typeof updateProjectSettings>

export function useSave(projectId: string) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateProjectSettingsMutation()
  const refused = error !== undefined && 'field' in error ? error : undefined
  return {
    busy: isLoading,
    refused,
    save: async (settings: SettingsChange) => {
      const answer = await update({ projectId, ...settings })
      dispatch(notifiedOutcome(answer.error, texts.saved, faults.notSaved))
    },
  }
}
