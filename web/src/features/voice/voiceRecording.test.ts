import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Recognise, RecogniserEvents } from './recogniser.ts'
import { createVoice } from './voiceRecording.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A recording whose recogniser and microphone do what the test says. */
function recording({ refuses }: { refuses?: Error } = {}) {
  const sessions: { events: RecogniserEvents; did: string[] }[] = []
  const level = { read: () => [], close: vi.fn<() => void>() }
  const recognise: Recognise = (events) => {
    if (refuses) throw refuses
    const did: string[] = []
    sessions.push({ events, did })
    return { finish: () => void did.push('finish'), drop: () => void did.push('drop') }
  }
  const words: string[] = []
  const said: string[] = []
  const voice = createVoice({ recognise, openMicrophoneLevel: () => level, now: () => 5 })
  voice.speakTo({
    onWords: (each) => void words.push(each),
    onNotice: (_kind, text) => void said.push(text),
  })
  const session = () => {
    const last = sessions.at(-1)
    if (last === undefined) throw new Error('Nothing is recognised.')
    return last
  }
  const begin = () => {
    voice.toggle()
    session().events.onBegan()
  }
  return { voice, sessions, session, level, words, said, begin }
}

describe('voice recording', () => {
  // Holds contract 4.11b, 9.20b.
  test('is restarted after 50 s, and no words of the old recogniser are lost', () => {
    const { sessions, begin, words } = recording()
    begin()
    vi.advanceTimersByTime(49_999)
    expect(sessions[0]?.did).toEqual([])
    vi.advanceTimersByTime(1)
    expect(sessions[0]?.did).toEqual(['finish'])
    sessions[0]?.events.onHeard('the last words', '')
    sessions[0]?.events.onEnded()
    expect(words).toEqual(['the last words'])
    expect(sessions).toHaveLength(2)
    sessions[1]?.events.onBegan()
    vi.advanceTimersByTime(50_000)
    expect(sessions[1]?.did).toEqual(['finish'])
  })

  test('ends also where the recogniser never says that it has', () => {
    const { voice, begin, level, said } = recording()
    begin()
    voice.stop()
    expect(voice.read().state.kind).toBe('stopping')
    vi.advanceTimersByTime(3_000)
    expect(voice.read().state.kind).toBe('idle')
    expect(level.close).toHaveBeenCalledOnce()
    expect(said).toEqual(['Voice recording stopped. Your text has been saved.'])
  })

  test.each([
    ['stopped', (made: ReturnType<typeof recording>) => made.voice.stop()],
    ['toggled', (made: ReturnType<typeof recording>) => made.voice.toggle()],
    ['refused', (made: ReturnType<typeof recording>) => made.session().events.onFailed('not-allowed')],
    ['left', (made: ReturnType<typeof recording>) => made.voice.dispose()],
  ])('gives the microphone back when it is %s', (_, leave) => {
    const made = recording()
    made.begin()
    const { session, level, voice } = made
    leave(made)
    session().events.onEnded()
    expect(voice.read()).toMatchObject({ state: { kind: 'idle' }, since: null, level: null })
    expect(level.close).toHaveBeenCalledOnce()
    expect(session().did).toContain('drop')
    vi.advanceTimersByTime(120_000)
    expect(made.sessions).toHaveLength(1)
  })

  test('that is left keeps the words that were not final', () => {
    const { voice, begin, session, words } = recording()
    begin()
    session().events.onHeard('', 'half a thought')
    voice.dispose()
    expect(words).toEqual(['half a thought'])
  })

  // Holds contract 8.16b.
  test('that the browser cannot do, or refuses to begin, is told', () => {
    const said: string[] = []
    const none = createVoice({ recognise: null, openMicrophoneLevel: () => null, now: () => 0 })
    none.speakTo({ onWords: () => undefined, onNotice: (_kind, text) => void said.push(text) })
    none.toggle()
    expect(said).toEqual([
      'Voice recognition is not supported in your browser. Please use Chrome, Safari, or Edge for the best experience.',
    ])
    const busy = recording({ refuses: new DOMException('It runs already.', 'InvalidStateError') })
    busy.voice.toggle()
    expect(busy.said).toEqual(['Voice recognition error: InvalidStateError'])
    expect(busy.voice.read().state.kind).toBe('idle')
  })
})
