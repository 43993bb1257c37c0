/**
 * Sends viewers the text that an agent is writing, before the text is recorded. Between processes, it goes over the bus, encrypted as in the log. It
 * may be lost or late, and the recorded message replaces it.
 */
import { taskStream, scopeOfStream } from '#domain/kernel/streams.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus, SealedWords } from '#platform/ports/bus.ts'
import type { Vault } from '#platform/ports/vault.ts'

/** A piece of a message that is being written. `offset` is where the piece begins in the message, in UTF-16 code units. */
export interface Words extends Omit<SealedWords, 'sealed'> {
  readonly text: string
}

export interface LiveWords {
  /** Sends text to current listeners, in order for each task. Returns at once; text that cannot be sent is dropped. */
  tell(words: Words): void
  /** Calls `listen` with text of the wanted tasks, until the returned function is called. */
  hear(isWanted: (taskId: string) => boolean, listen: (words: Words) => void): () => void
}

const maxWaiting = 1_000

export function liveWords({ bus, vault, logger }: { bus: Bus; vault: Vault; logger: Logger }): LiveWords {
  if (bus.isWithinProcess) return wordsWithinProcess(logger)
  // A thought is encrypted in another context than words, so that a gateway that does not know of thoughts cannot open one and show it as a message.
  const place = ({ taskId, messageId, offset, isThought }: Omit<Words, 'text'>) =>
    [scopeOfStream(taskStream(taskId)), `${isThought ? 'thought' : 'words'}#${messageId}:${offset}`] as const
  const inOrder = () => {
    let last = Promise.resolve()
    let waiting = 0
    return (work: () => Promise<void>) => {
      if (waiting >= maxWaiting) return
      waiting += 1
      last = last
        .then(work)
        .catch((fault: unknown) => logger.debug({ err: fault }, 'live words dropped'))
        .finally(() => (waiting -= 1))
    }
  }
  const telling = inOrder()
  return {
    tell({ text, ...words }) {
      telling(async () => {
        const sealed = await vault.seal(...place(words), Buffer.from(text, 'utf8'))
        bus.publish('words', { ...words, sealed: Buffer.from(sealed).toString('base64') })
      })
    },
    hear(isWanted, listen) {
      const hearing = inOrder()
      return bus.subscribe('words', ({ sealed, ...words }) => {
        if (!isWanted(words.taskId)) return
        hearing(async () => {
          const plain = await vault.open(...place(words), Buffer.from(sealed, 'base64'))
          if (plain !== undefined) listen({ ...words, text: Buffer.from(plain).toString('utf8') })
        })
      })
    },
  }
}

/** Passes text to the listeners in this process, unencrypted, since it never leaves the process. */
function wordsWithinProcess(logger: Logger): LiveWords {
  const listeners = new Set<Parameters<LiveWords['hear']>>()
  return {
    tell(words) {
      for (const [isWanted, listen] of listeners)
        try {
          if (isWanted(words.taskId)) listen(words)
        } catch (fault) {
          logger.debug({ err: fault }, 'live words dropped')
        }
    },
    hear(...listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
