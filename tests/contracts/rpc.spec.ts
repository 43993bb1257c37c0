import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { rpcContract } from './rpc.contract.ts'

rpcContract('in process', async () => {
  const rpc = openInProcessRpc({ onFault: () => {} })
  return { rpc, elsewhere: rpc, close: () => rpc.close() }
})
