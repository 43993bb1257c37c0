/** Expectations that wait: the page is checked until they are true, or the time limit is over. */
import { expect as lookingOn } from 'playwright/test'
import { patienceMs } from '../patience.ts'

export const expect = lookingOn.configure({ timeout: patienceMs })
