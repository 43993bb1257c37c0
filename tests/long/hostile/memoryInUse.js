/** Loaded before the product: on SIGUSR2 it collects garbage and prints how many bytes are still in use. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  // Memory that finalizers release is only counted as free after they have run.
  setImmediate(() => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    process.stdout.write(`bytes in use: ${heapUsed + external}\n`)
  })
})
