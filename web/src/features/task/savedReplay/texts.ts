const counted = (count: number, word: string) =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

/** Texts of a saved replay, and of the button that saves it. */
export const texts = {
  notSaved: 'Failed to save the replay',
  says: (savedAt: string) => `A replay of the task as it was recorded until ${savedAt}.`,
  leftOut: (moments: number, images: number) =>
    [
      ...(moments > 0 ? [`The code changes of ${counted(moments, 'moment')}`] : []),
      ...(images > 0 ? [counted(images, 'image')] : []),
    ].join(' and ') + ' are not part of this file, which would be too large, or could not be read.',
  changesLeftOut: (saved: number, total: number) =>
    `This file holds the code changes of ${saved} of ${counted(total, 'moment')}, and not those of this one.`,
  label: 'Saved replay',
  readOnly: 'This is a saved replay. Nothing can be written here.',
  unreadable: 'This file holds no replay that can be shown',
  unreadableWhy: 'It may have been cut short. Save the replay of the task again.',
  empty: 'Nothing was recorded',
  emptyWhy: 'Nothing had happened in this task when the replay was saved.',
} as const
