import { openInProcessRequests } from '#platform/bus/requestsInProcess.ts'
import { requestsContract } from './requests.contract.ts'

requestsContract('in process', async () => {
  const requests = openInProcessRequests({ onFault: () => {} })
  return { requests, elsewhere: requests, close: () => requests.close() }
})
