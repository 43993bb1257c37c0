/** Saving a part of the settings: the person is told how it went, and where a fault is. */
import { useDispatch } from 'react-redux'
import type { BodyInputOf } from '#domain/api/call.schema.ts'
import type { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { notified, notifiedFailure } from '../../notifications/notifications.ts'
import { useUpdateProjectSettingsMutation } from './projectSettingsApi.ts'
import { faults } from './faultTexts.ts'
import { texts } from './texts.ts'

export function useSave(projectId: string) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateProjectSettingsMutation()
  const refused = error !== undefined && 'field' in error ? error : undefined
  return {
    busy: isLoading,
    refused,
    save: async (settings: BodyInputOf<typeof updateProjectSettings>) => {
      const answer = await update({ projectId, ...settings })
      dispatch(
        answer.error === undefined
          ? notified('success', texts.saved)
          : notifiedFailure(faults.notSaved, answer.error),
      )
    },
  }
}
