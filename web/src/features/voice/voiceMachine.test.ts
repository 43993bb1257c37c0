import { describe, expect, test } from 'vitest'
import { idle, voiceAfter, type VoiceEffect, type VoiceEvent, type VoiceState } from './voiceMachine.ts'

/** The state after these events, starting from idle, and all effects on the way. */
function after(...events: readonly VoiceEvent[]): { state: VoiceState; effects: readonly VoiceEffect[] } {
  let state = idle
  const effects: VoiceEffect[] = []
  for (const event of events) {
    const next = voiceAfter(state, event)
    state = next.state
    effects.push(...next.effects)
  }
  return { state, effects }
}
const [toggled, stopped, began, ended, renewalDue] = [
  { type: 'toggled' },
  { type: 'stopped' },
  { type: 'began' },
  { type: 'ended' },
  { type: 'renewalDue' },
] as const
const heard = (words: string, interim = ''): VoiceEvent => ({ type: 'heard', words, interim })
const failed = (code: string): VoiceEvent => ({ type: 'failed', code })
const listened = (effects: readonly VoiceEffect[]) =>
  effects.filter((effect) => effect.do === 'listen').length
const said = (effects: readonly VoiceEffect[]) =>
  effects.flatMap((effect) => (effect.do === 'say' ? [`${effect.kind}: ${effect.text}`] : []))
const written = (effects: readonly VoiceEffect[]) =>
  effects.flatMap((effect) => (effect.do === 'write' ? [effect.words] : []))

describe('a voice recording', () => {
  // Holds contract 4.11a.
  test('goes from idle over initialising to recording, and over stopping back', () => {
    expect(after().state.kind).toBe('idle')
    expect(after(toggled).state.kind).toBe('initialising')
    expect(after(toggled, began).state.kind).toBe('recording')
    expect(after(toggled, began, toggled).state.kind).toBe('stopping')
    const { state, effects } = after(toggled, began, heard('one'), toggled, ended)
    expect(state.kind).toBe('idle')
    expect(effects.map((effect) => effect.do)).toEqual(['listen', 'write', 'finish', 'release', 'say'])
    expect(said(effects)).toEqual(['success: Voice recording stopped. Your text has been saved.'])
  })

  // Holds contract 4.11c.
  test('restarts when it is due, and after the end event unless the user stopped it', () => {
    const due = after(toggled, began, renewalDue)
    expect(due.effects.at(-1)).toEqual({ do: 'finish' })
    const again = after(toggled, began, renewalDue, ended, began, heard('on'), ended)
    expect(again.state.kind).toBe('recording')
    expect(listened(again.effects)).toBe(3)
    for (const stop of [toggled, stopped])
      expect(listened(after(toggled, began, stop, ended).effects)).toBe(1)
  })

  test('writes what is final, shows what is not, and writes that too when nothing more comes', () => {
    const first = after(toggled, began, heard('fix the', ' log'))
    expect(first.state).toMatchObject({ interim: ' log' })
    expect(written(first.effects)).toEqual(['fix the'])
    expect(written(after(toggled, began, heard('', 'login'), ended).effects)).toEqual(['login'])
    expect(written(after(toggled, began, heard('', 'login'), toggled, ended).effects)).toEqual(['login'])
    expect(written(after(toggled, began, heard('', 'login'), failed('network')).effects)).toEqual(['login'])
    const last = after(toggled, began, heard('', 'log'), toggled, heard('login'), ended)
    expect(written(last.effects)).toEqual(['login'])
  })

  test('that is called off before it began says nothing, and gives the microphone back', () => {
    const { state, effects } = after(toggled, stopped, began, ended)
    expect(state.kind).toBe('idle')
    expect(effects.map((effect) => effect.do)).toEqual(['listen', 'finish', 'finish', 'release'])
  })

  // Holds contract 8.16a.
  test.each([
    ['no-speech', 'No speech detected. Please try again.'],
    ['audio-capture', 'Microphone not accessible. Please check permissions.'],
    ['not-allowed', 'Microphone access denied. Please allow microphone permissions.'],
    ['service-not-allowed', 'Microphone access denied. Please allow microphone permissions.'],
    ['network', 'Network error occurred. Your text has been saved.'],
    ['language-not-supported', 'Voice recognition error: language-not-supported'],
  ])('that fails with %s says %j, and ends', (code, text) => {
    for (const before of [[toggled], [toggled, began]]) {
      const { state, effects } = after(...before, failed(code), ended)
      expect(state.kind).toBe('idle')
      expect(said(effects)).toEqual([`error: ${text}`])
      expect(effects.map((effect) => effect.do)).toContain('release')
      expect(listened(effects)).toBe(1)
    }
  })

  test('outlasts one silence of somebody who has spoken, and not a second', () => {
    const thinking = [toggled, began, heard('one'), failed('no-speech'), ended, began]
    expect(after(...thinking).state.kind).toBe('recording')
    const { state, effects } = after(...thinking, failed('no-speech'))
    expect(state.kind).toBe('idle')
    expect(said(effects)).toEqual(['error: No speech detected. Please try again.'])
  })

  test('is not restarted for ever when nothing is heard', () => {
    const ends = Array.from({ length: 20 }, () => [ended, began]).flat()
    const { state, effects } = after(toggled, began, ...ends)
    expect(state.kind).toBe('idle')
    expect(listened(effects)).toBe(5)
  })
})
