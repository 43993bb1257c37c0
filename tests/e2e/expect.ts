/** What a person sees, waited for: a look at the page goes on until it is so, or the limit is over. */
import { expect as lookingOn } from 'playwright/test'

/** An agent has to start before its words can be seen, on two cores beside other tests. */
const patienceMs = 20_000

export const expect = lookingOn.configure({ timeout: patienceMs })
