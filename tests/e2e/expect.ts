/** What a person sees, waited for: a look at the page goes on until it is so, or the limit is over. */
import { expect as lookingOn } from 'playwright/test'
import { patienceMs } from '../patience.ts'

export const expect = lookingOn.configure({ timeout: patienceMs })
